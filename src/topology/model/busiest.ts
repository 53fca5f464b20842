/**
 * Selects the `max` numbers that come first in a given order. The top of a heap is the selected number that comes last,
 * so most numbers need one comparison. In the worst case, n numbers need n · log(max) comparisons.
 */
export class Busiest {
  readonly #max: number;
  readonly #compare: (a: number, b: number) => number;
  readonly #heap: number[] = [];

  /** @param compare - as for `Array.sort`; must not return 0 for different numbers */
  constructor(max: number, compare: (a: number, b: number) => number) {
    this.#max = max;
    this.#compare = compare;
  }

  offer(number: number): void {
    const heap = this.#heap;
    if (heap.length < this.#max) {
      heap.push(number);
      this.#rise(heap.length - 1);
    } else if (this.#max > 0 && this.#compare(number, heap[0]!) < 0) {
      heap[0] = number;
      this.#sink();
    }
  }

  /** Returns the selected numbers in order. */
  sorted(): number[] {
    return [...this.#heap].sort(this.#compare);
  }

  #rise(from: number): void {
    const heap = this.#heap;
    const number = heap[from]!;
    let at = from;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      if (this.#compare(heap[above]!, number) >= 0) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = number;
  }

  #sink(): void {
    const heap = this.#heap;
    const number = heap[0]!;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && this.#compare(heap[below + 1]!, heap[below]!) > 0) below++;
      if (this.#compare(heap[below]!, number) <= 0) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = number;
  }
}
