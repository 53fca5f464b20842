import { addressGroup } from '../address-group.ts';
import { ServiceError } from '../errors.ts';
import { KeyedSlots, slotCount } from '../keyed-slots.ts';
import { limits } from '../limits.ts';

const windowMs = 60_000;

/** How long an address from which an account signed in is known to be one of its own. */
const knownForMs = 30 * 24 * 3600 * 1000;

/** What attempts are counted for, and how many may fail within a minute. */
export interface Attempted {
  readonly subject: string;
  readonly most: number;
}

/**
 * Failed logins within a minute, by address and by account, in tables of fixed size; two that share a slot are throttled
 * together for the rest of their minute.
 *
 * An account may fail more often than an address: else one stranger could keep its owner out for ever. Many strangers
 * together could still, and one in the same office, or behind the same proxy, everybody there. So an account at an
 * address from which it signed in before has a count of its own, and is held to neither of the others.
 */
export class LoginThrottle {
  /** Owned here: start of each slot's minute, and the failures since. */
  readonly #starts = new Float64Array(slotCount).fill(Number.NEGATIVE_INFINITY);
  readonly #failures = new Uint16Array(slotCount);
  /** When each account last signed in from each address, since the start of the process. */
  readonly #signedIn = new Float64Array(slotCount).fill(Number.NEGATIVE_INFINITY);
  readonly #slots = new KeyedSlots();
  readonly #mostOfAddress: number;

  /** @param mostOfAddress - failures from one address within a minute; 0 for as many as there are */
  constructor(mostOfAddress: number = limits.maxLoginFailuresPerMinute) {
    this.#mostOfAddress = mostOfAddress;
  }

  /**
   * Counts an attempt as failed until the function that it returns takes it back, so that attempts at once can't outrun the
   * count.
   *
   * @throws RATE_LIMITED with `retry_after_s` when one of the subjects has failed too often.
   */
  begin(attempted: readonly Attempted[], nowMs: number): () => void {
    const taken = attempted.map(({ subject, most }) => ({ slot: this.#slots.of(subject), most }));
    for (const { slot, most } of taken) this.#requireRoom(slot, most, nowMs);
    for (const { slot } of taken) this.#failures[slot] = this.#failures[slot]! + 1;
    return () => {
      for (const { slot } of taken) this.#failures[slot] = Math.max(0, this.#failures[slot]! - 1);
    };
  }

  /**
   * Whether a password given for a name from an address is right, as `isRight` finds. Wrong ones count for both, or for
   * the two together where they are known; what could not be checked doesn't.
   *
   * @throws RATE_LIMITED, without asking.
   */
  async check(
    name: string,
    address: string,
    nowMs: number,
    isRight: () => Promise<boolean>,
  ): Promise<boolean> {
    const group = addressGroup(address);
    const pair = `${group} of ${name}`;
    const own = this.#slots.of(pair);
    const isKnown = nowMs - this.#signedIn[own]! < knownForMs;
    const takeBack = this.begin(isKnown ? ownCount(pair) : this.#countsOf(group, name), nowMs);
    try {
      const right = await isRight();
      if (right) {
        takeBack();
        this.#signedIn[own] = nowMs;
      }
      return right;
    } catch (error) {
      takeBack();
      throw error;
    }
  }

  #countsOf(group: string, name: string): Attempted[] {
    const byName = { subject: `name ${name}`, most: limits.maxAccountLoginFailuresPerMinute };
    if (this.#mostOfAddress === 0) return [byName];
    return [{ subject: `address ${group}`, most: this.#mostOfAddress }, byName];
  }

  #requireRoom(slot: number, most: number, nowMs: number): void {
    if (nowMs - this.#starts[slot]! >= windowMs || nowMs < this.#starts[slot]!) {
      this.#starts[slot] = nowMs;
      this.#failures[slot] = 0;
    }
    if (this.#failures[slot]! < most) return;
    const seconds = Math.ceil((this.#starts[slot]! + windowMs - nowMs) / 1000);
    throw new ServiceError('RATE_LIMITED', `too many failed logins; try again in ${seconds} s`, {
      retry_after_s: seconds,
    });
  }
}

const ownCount = (pair: string): Attempted[] => [
  { subject: `known ${pair}`, most: limits.maxLoginFailuresPerMinute },
];
