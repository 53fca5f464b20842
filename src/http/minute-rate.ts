const seconds = 60;

/** How much of something happened in the last minute, per second. One cell a second, reused. */
export class MinuteRate {
  readonly #amounts = new Float64Array(seconds);
  readonly #startedS: number;
  #newestS: number;

  /** `now` is monotonic milliseconds, here and below. */
  constructor(now: number) {
    this.#startedS = Math.floor(now / 1000);
    this.#newestS = this.#startedS;
  }

  add(amount: number, now: number): void {
    this.#advance(now);
    this.#amounts[this.#newestS % seconds]! += amount;
  }

  /** Before the first minute is over: per second since the start. */
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
