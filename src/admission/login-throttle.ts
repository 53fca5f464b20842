import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { addressGroup } from '../net/address-group.ts';
import { KeyedSlots, slotCount } from './keyed-slots.ts';

const windowMs = 60_000;

/** Time after a login during which its address remains known for the account. */
const knownForMs = 30 * 24 * 3600 * 1000;

/** A subject for which attempts are counted, with its maximum number of failures per minute. */
export interface Attempted {
  readonly subject: string;
  readonly most: number;
}

/**
 * Limits failed logins per minute, by address and by account, in tables of fixed size. Two subjects that
 * share a slot are throttled together for the rest of the minute.
 *
 * The limit for an account is higher than for an address; otherwise a single attacker could lock out the
 * owner of the account. Many attackers together could still do so, and an attacker in the same office or
 * behind the same proxy could lock out all users there. Therefore an account has a separate count at an
 * address from which it logged in before, and the other two limits do not apply there.
 */
export class LoginThrottle {
  /** Start of the current minute of each slot. */
  readonly #starts = new Float64Array(slotCount).fill(Number.NEGATIVE_INFINITY);
  /** Failures of each slot since the start of its minute. */
  readonly #failures = new Uint16Array(slotCount);
  /** Time of the last login by account and address, since the start of the process. */
  readonly #signedIn = new Float64Array(slotCount).fill(Number.NEGATIVE_INFINITY);
  readonly #slots = new KeyedSlots();
  readonly #mostOfAddress: number;

  /** @param mostOfAddress - maximum failures from one address per minute; 0 means unlimited */
  constructor(mostOfAddress: number = limits.maxLoginFailuresPerMinute) {
    this.#mostOfAddress = mostOfAddress;
  }

  /**
   * Counts an attempt as failed in advance, so that concurrent attempts cannot exceed the limit, and returns
   * a function that undoes the count.
   *
   * @throws RATE_LIMITED with `retry_after_s` if one of the subjects has failed too often
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
   * Checks a password with `isRight`, for an account name and an address. A wrong password counts for the name and the
   * address, or for the pair of name and address if the pair is known. A check that throws does not count.
   *
   * @throws RATE_LIMITED without calling `isRight`.
   */
  async check(name: string, address: string, nowMs: number, isRight: () => Promise<boolean>): Promise<boolean> {
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

const ownCount = (pair: string): Attempted[] => [{ subject: `known ${pair}`, most: limits.maxLoginFailuresPerMinute }];
