/** A binary heap: items are ordered by time, and items with the same time by insertion. */
export class Queue<T extends { readonly time: number }> {
  readonly #heap: { value: T; order: number }[] = [];
  #pushed = 0;

  get first(): T | undefined {
    return this.#heap[0]?.value;
  }

  push(value: T): void {
    const heap = this.#heap;
    let i = heap.push({ value, order: this.#pushed++ }) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.#before(i, parent)) break;
      this.#swap(i, parent);
      i = parent;
    }
  }

  pop(): T | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || top === last) return top?.value;
    heap[0] = last;
    for (let i = 0; ; ) {
      let least = i;
      for (const child of [2 * i + 1, 2 * i + 2]) if (child < heap.length && this.#before(child, least)) least = child;
      if (least === i) return top.value;
      this.#swap(i, least);
      i = least;
    }
  }

  #before(i: number, j: number): boolean {
    const a = this.#heap[i]!;
    const b = this.#heap[j]!;
    return a.value.time === b.value.time ? a.order < b.order : a.value.time < b.value.time;
  }

  #swap(i: number, j: number): void {
    const kept = this.#heap[i]!;
    this.#heap[i] = this.#heap[j]!;
    this.#heap[j] = kept;
  }
}
