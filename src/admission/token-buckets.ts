export interface TokenBucketOptions {
  /** How long one token takes to flow in. */
  readonly tokenMs: number;
  /** How long an empty bucket takes to fill up. */
  readonly bucketMs: number;
  /** Buckets. Default 1. */
  readonly slots?: number;
}

/** Sums of times as fractions are inexact: what is due within a microsecond is due. */
export const toleranceMs = 0.001;

/**
 * A token bucket in each slot, kept as one number: the time at which the bucket is full again (the generic cell rate
 * algorithm of ITU-T I.371, annex A, whose theoretical arrival time this is). A refused request takes nothing.
 */
export class TokenBuckets {
  readonly #fullAt: Float64Array;
  readonly #tokenMs: number;
  readonly #bucketMs: number;

  constructor({ tokenMs, bucketMs, slots = 1 }: TokenBucketOptions) {
    this.#fullAt = new Float64Array(slots);
    this.#tokenMs = tokenMs;
    this.#bucketMs = bucketMs;
  }

  /**
   * Takes a token and returns 0, or returns how many milliseconds it is until there is one.
   *
   * @param nowMs - of a clock that only goes forward
   */
  take(nowMs: number, slot = 0): number {
    const fullAt = Math.max(this.#fullAt[slot]!, nowMs) + this.#tokenMs;
    const waitMs = fullAt - nowMs - this.#bucketMs;
    if (waitMs > toleranceMs) return waitMs;
    this.#fullAt[slot] = fullAt;
    return 0;
  }
}
