const seconds = 60;

/** A rate per second, averaged over the last minute, with a reused cell for each second. */
export class MinuteRate {
  readonly #amounts = new Float64Array(seconds);
  readonly #startedS: number;
  #newestS: number;

  /** Begins a rate. `now` is monotonic milliseconds, in all methods. */
  constructor(now: number) {
    this.#startedS = Math.floor(now / 1000);
    this.#newestS = this.#startedS;
  }

  add(amount: number, now: number): void {
    this.#advance(now);
    this.#amounts[this.#newestS % seconds]! += amount;
  }

  /** Returns the rate of the last minute, or since the start if that is less than a minute ago. */
  perSecond(now: number): number {
    this.#advance(now);
    let sum = 0;
    for (const amount of this.#amounts) sum += amount;
    return sum / Math.min(seconds, this.#newestS - this.#startedS + 1);
  }

  #advance(now: number): void {
    const nowS = Math.floor(now / 1000);
    const passed = Math.min(seconds, nowS - this.#newestS);
    for (let n = 1; n <= passed; n++) this.#amounts[(this.#newestS + n) % seconds] = 0;
    this.#newestS = Math.max(this.#newestS, nowS);
  }
}
