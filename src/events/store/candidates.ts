import { grown } from '../../sketch/grown.ts';

/**
 * Events that may be on a page, each with a key by time and a key by sequence, larger keys first. Keeps the best of all
 * added events: the `wanted` events with the largest keys. The typed arrays grow to about twice `wanted`.
 */
export class Candidates {
  readonly #wanted: number;
  #times = new Float64Array(1024);
  #seqs = new Float64Array(1024);
  #size = 0;
  #sorted = true;
  /** Events with smaller time keys are no longer needed. */
  #threshold = Number.NEGATIVE_INFINITY;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  add(time: number, seq: number): void {
    if (time < this.#threshold) return;
    if (this.#size === this.#times.length) this.#makeRoom();
    this.#times[this.#size] = time;
    this.#seqs[this.#size++] = seq;
    this.#sorted = false;
  }

  /**
   * Returns the time key of the last of the best events, once there are enough. Events with smaller keys
   * cannot be on the page.
   */
  threshold(): number {
    if (this.#size < this.#wanted) return Number.NEGATIVE_INFINITY;
    // Many candidates are not sorted after each block, because sorting would take longer than reading the blocks that
    // the threshold excludes.
    if (this.#wanted <= 4096 || this.#size >= 2 * this.#wanted) this.#keepBest();
    return this.#threshold;
  }

  /** Returns the best events, from index `skip` on, as keys by time and by sequence. */
  take(skip: number): { times: Float64Array; seqs: Float64Array } {
    this.#keepBest();
    return { times: this.#times.slice(skip, this.#size), seqs: this.#seqs.slice(skip, this.#size) };
  }

  #makeRoom(): void {
    if (this.#size >= 2 * this.#wanted && this.#size >= 16_384) this.#keepBest();
    if (2 * this.#size <= this.#times.length) return;
    this.#times = grown(this.#times);
    this.#seqs = grown(this.#seqs);
  }

  #keepBest(): void {
    if (this.#sorted) return;
    this.#sorted = true;
    const wanted = Math.min(this.#wanted, this.#size);
    // The native sort of numbers finds the limit; only pairs at or above the limit are compared.
    const limit = this.#times.slice(0, this.#size).sort()[this.#size - wanted]!;
    const kept: number[] = [];
    for (let i = 0; i < this.#size; i++) if (this.#times[i]! >= limit) kept.push(i);
    const times = this.#times;
    const seqs = this.#seqs;
    const order = Uint32Array.from(kept).sort((a, b) => times[b]! - times[a]! || seqs[b]! - seqs[a]!);
    const best = order.subarray(0, wanted);
    const bestTimes = Float64Array.from(best, (i) => times[i]!);
    const bestSeqs = Float64Array.from(best, (i) => seqs[i]!);
    times.set(bestTimes);
    seqs.set(bestSeqs);
    this.#size = wanted;
    if (wanted === this.#wanted && wanted > 0) this.#threshold = times[wanted - 1]!;
  }
}
