import { createHmac, randomBytes } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';

const windowMs = 60_000;
/** Slots for failures: a minute at full speed leaves most of them empty, so that strangers rarely share one. */
const slots = 2 ** 16;

/**
 * Failed logins within a minute, by account and by address. Names and addresses are the attacker's to choose, so they
 * are counted in a table of fixed size under a keyed hash that nobody can aim at; two that share a slot are throttled
 * together for the rest of their minute.
 */
export class LoginThrottle {
  /** Owned here: start of each slot's minute, and the failures since. */
  readonly #starts = new Float64Array(slots).fill(Number.NEGATIVE_INFINITY);
  readonly #failures = new Uint16Array(slots);
  readonly #key = randomBytes(32);

  /**
   * Counts an attempt as failed until the function that it returns takes it back, so that attempts at once can't outrun the count.
   *
   * @throws RATE_LIMITED with `retry_after_s` when one of the subjects has failed too often.
   */
  begin(subjects: readonly string[], nowMs: number): () => void {
    const taken = subjects.map((subject) => this.#slot(subject));
    for (const slot of taken) this.#requireRoom(slot, nowMs);
    for (const slot of taken) this.#failures[slot] = this.#failures[slot]! + 1;
    return () => {
      for (const slot of taken) this.#failures[slot] = Math.max(0, this.#failures[slot]! - 1);
    };
  }

  #requireRoom(slot: number, nowMs: number): void {
    if (nowMs - this.#starts[slot]! >= windowMs || nowMs < this.#starts[slot]!) {
      this.#starts[slot] = nowMs;
      this.#failures[slot] = 0;
    }
    if (this.#failures[slot]! < limits.maxLoginFailuresPerMinute) return;
    const seconds = Math.ceil((this.#starts[slot]! + windowMs - nowMs) / 1000);
    throw new ServiceError('RATE_LIMITED', `too many failed logins; try again in ${seconds} s`, {
      retry_after_s: seconds,
    });
  }

  #slot(subject: string): number {
    return createHmac('sha256', this.#key).update(subject).digest().readUInt16LE(0);
  }
}
