/** Milliseconds of delay that may be caught up, because timers fire a few milliseconds late. */
const slackMs = 20;

/**
 * Spreads probes evenly: never more than `rate` in any second, even if timers are late.
 *
 * A generic cell rate algorithm (ITU-T I.371, annex A) with increment T and tolerance τ: the n-th probe is
 * sent at least (n − 1)·T − τ after the first. With T = (1000 ms + τ) / rate, `rate` + 1 probes take at least
 * a second.
 */
export class Pace {
  readonly #incrementMs: number;
  /** Time at which the next probe is due at an even pace. */
  #due = Number.NEGATIVE_INFINITY;

  /** @param rate - probes per second, at least 1 */
  constructor(rate: number) {
    this.#incrementMs = (1000 + slackMs) / rate;
  }

  /**
   * Requests permission for one probe at `nowMs` (monotonic). Returns 0 if it may be sent and was counted, or
   * the milliseconds to wait before the next attempt.
   */
  take(nowMs: number): number {
    const wait = this.#due - slackMs - nowMs;
    if (wait > 0) return wait;
    this.#due = Math.max(this.#due, nowMs) + this.#incrementMs;
    return 0;
  }
}
