import { addressGroup } from '../address-group.ts';
import { ServiceError } from '../errors.ts';
import { KeyedSlots, slotCount } from '../keyed-slots.ts';
import { limits } from '../limits.ts';

const windowMs = 60_000;

/**
 * Failed logins within a minute, by account and by address, in a table of fixed size; two that share a slot of it are
 * throttled together for the rest of their minute.
 */
export class LoginThrottle {
  /** Owned here: start of each slot's minute, and the failures since. */
  readonly #starts = new Float64Array(slotCount).fill(Number.NEGATIVE_INFINITY);
  readonly #failures = new Uint16Array(slotCount);
  readonly #slots = new KeyedSlots();

  /**
   * Counts an attempt as failed until the function that it returns takes it back, so that attempts at once can't outrun the count.
   *
   * @throws RATE_LIMITED with `retry_after_s` when one of the subjects has failed too often.
   */
  begin(subjects: readonly string[], nowMs: number): () => void {
    const taken = subjects.map((subject) => this.#slots.of(subject));
    for (const slot of taken) this.#requireRoom(slot, nowMs);
    for (const slot of taken) this.#failures[slot] = this.#failures[slot]! + 1;
    return () => {
      for (const slot of taken) this.#failures[slot] = Math.max(0, this.#failures[slot]! - 1);
    };
  }

  /**
   * Whether a password given for a name from an address is right, as `isRight` finds. Wrong ones count for both; what
   * could not be checked doesn't.
   *
   * @throws RATE_LIMITED, without asking.
   */
  async check(
    name: string,
    address: string,
    nowMs: number,
    isRight: () => Promise<boolean>,
  ): Promise<boolean> {
    const takeBack = this.begin([`name ${name}`, `address ${addressGroup(address)}`], nowMs);
    try {
      const right = await isRight();
      if (right) takeBack();
      return right;
    } catch (error) {
      takeBack();
      throw error;
    }
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
}
