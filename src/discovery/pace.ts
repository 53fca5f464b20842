/** How far sending may lag behind the even pace and make up for it: timers are a few milliseconds late. */
const slackMs = 20;

/**
 * Spreads probes evenly: never more than `rate` in any second, however late the timers are.
 *
 * A generic cell rate algorithm (ITU-T I.371, annex A) with the increment T and the tolerance τ: the n-th probe comes
 * at least (n − 1)·T − τ after the first. With T = (1000 ms + τ) / rate that is a whole second for one more than `rate`.
 */
export class Pace {
  readonly #incrementMs: number;
  /** When the next probe is due at an even pace. */
  #due = Number.NEGATIVE_INFINITY;

  /** @param rate - probes a second, at least 1 */
  constructor(rate: number) {
    this.#incrementMs = (1000 + slackMs) / rate;
  }

  /**
   * Asks for leave to send one probe at `nowMs` (monotonic). 0: it may be sent, and has been counted; else how long to
   * wait before asking again.
   */
  take(nowMs: number): number {
    const wait = this.#due - slackMs - nowMs;
    if (wait > 0) return wait;
    this.#due = Math.max(this.#due, nowMs) + this.#incrementMs;
    return 0;
  }
}
