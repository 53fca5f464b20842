export interface TokenBucketOptions {
  /** The time in which one token is added. */
  readonly tokenMs: number;
  /** The time in which an empty bucket fills up. */
  readonly bucketMs: number;
  /** The number of buckets. Default 1. */
  readonly slots?: number;
}

/** Tolerance for inexact sums of fractional times: a token due within a microsecond is available. */
export const toleranceMs = 0.001;

/**
 * A token bucket in each slot, stored as one number: the time at which the bucket is full again (the
 * theoretical arrival time in the generic cell rate algorithm of ITU-T I.371, annex A). A refused request
 * takes nothing.
 */
export class TokenBuckets {
  readonly #fullAt: Float64Array;
  readonly #tokenMs: number;
  readonly #bucketMs: number;
  #lastMs = Number.NEGATIVE_INFINITY;
  /** Total by which the clock was set back. */
  #setBackMs = 0;

  constructor({ tokenMs, bucketMs, slots = 1 }: TokenBucketOptions) {
    this.#fullAt = new Float64Array(slots);
    this.#tokenMs = tokenMs;
    this.#bucketMs = bucketMs;
  }

  /**
   * Takes a token and returns 0, or returns the milliseconds until a token is available. If the clock is set back,
   * the buckets keep their tokens and continue to fill.
   *
   * @param clockMs - time of any clock
   */
  take(clockMs: number, slot = 0): number {
    if (clockMs < this.#lastMs) this.#setBackMs += this.#lastMs - clockMs;
    this.#lastMs = clockMs;
    const nowMs = clockMs + this.#setBackMs;
    const fullAt = Math.max(this.#fullAt[slot]!, nowMs) + this.#tokenMs;
    const waitMs = fullAt - nowMs - this.#bucketMs;
    if (waitMs > toleranceMs) return waitMs;
    this.#fullAt[slot] = fullAt;
    return 0;
  }
}
