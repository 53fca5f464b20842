/** Limits work to a share of elapsed time. Unused time accumulates up to `burstMs`. */
export class CpuBudget {
  readonly #msPerS: number;
  readonly #burstMs: number;
  readonly #now: () => number;
  #left: number;
  #seen: number;

  /** @param now - returns milliseconds */
  constructor(msPerS: number, burstMs: number, now: () => number) {
    this.#msPerS = msPerS;
    this.#burstMs = burstMs;
    this.#now = now;
    this.#left = burstMs;
    this.#seen = now();
  }

  isLeft(): boolean {
    const now = this.#now();
    this.#left = Math.min(this.#burstMs, this.#left + ((now - this.#seen) * this.#msPerS) / 1000);
    this.#seen = now;
    return this.#left > 0;
  }

  measure<T>(work: () => T): T {
    const begun = this.#now();
    const result = work();
    this.#left -= this.#now() - begun;
    return result;
  }
}
