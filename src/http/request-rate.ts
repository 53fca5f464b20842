import { addressGroup } from '../address-group.ts';
import { TokenBuckets } from '../admission/token-buckets.ts';
import { ServiceError } from '../errors.ts';
import { KeyedSlots, slotCount } from '../keyed-slots.ts';
import { type LimitName, limits } from '../limits.ts';

export interface RequestRateOptions {
  /** Requests a second; 0 for as many as come. */
  readonly perAddress: number;
  readonly perPrincipal: number;
  /** Requests of one principal in work at once. Default `limits.maxRequestsInFlightPerPrincipal`. */
  readonly inWorkPerPrincipal?: number;
  /** Requests without an identity in work at once. Default `limits.maxRequestsInFlightWithoutIdentity`. */
  readonly inWorkWithoutIdentity?: number;
  /** … from one address. Default `limits.maxRequestsInFlightPerAddress`. */
  readonly inWorkPerAddress?: number;
  /** Of these, those that wait for the rest of their bodies. Default `limits.maxWaitingBodiesPerAddress`. */
  readonly waitingPerAddress?: number;
  readonly limitReached: (limit: LimitName) => void;
}

/**
 * How often one address and one principal may ask, and how much each of them may have in work: so much that nobody
 * who works with the service gets there, and so little that one of them cannot take it from the others.
 */
export class RequestRate {
  readonly #slots = new KeyedSlots();
  readonly #addresses: TokenBuckets | undefined;
  readonly #principals: TokenBuckets | undefined;
  readonly #inWork = new Uint16Array(slotCount);
  readonly #inWorkPerPrincipal: number;
  readonly #strangers = new Uint16Array(slotCount);
  readonly #maxStrangers: number;
  readonly #maxStrangersPerAddress: number;
  readonly #waiting = new Uint16Array(slotCount);
  readonly #maxWaitingPerAddress: number;
  #strangersInAll = 0;
  readonly #limitReached: (limit: LimitName) => void;

  constructor(options: RequestRateOptions) {
    const { perAddress, perPrincipal, limitReached } = options;
    this.#addresses = perAddress === 0 ? undefined : tokenBuckets(perAddress);
    this.#principals = perPrincipal === 0 ? undefined : tokenBuckets(perPrincipal);
    this.#inWorkPerPrincipal = options.inWorkPerPrincipal ?? limits.maxRequestsInFlightPerPrincipal;
    this.#maxStrangers = options.inWorkWithoutIdentity ?? limits.maxRequestsInFlightWithoutIdentity;
    this.#maxStrangersPerAddress = options.inWorkPerAddress ?? limits.maxRequestsInFlightPerAddress;
    this.#maxWaitingPerAddress = options.waitingPerAddress ?? limits.maxWaitingBodiesPerAddress;
    this.#limitReached = limitReached;
  }

  /**
   * To be called for every request, before anything is done for it.
   *
   * @param nowMs - of a clock that only goes forward
   * @throws RATE_LIMITED with `retry_after_s`.
   */
  fromAddress(address: string, nowMs: number): void {
    if (this.#addresses === undefined) return;
    const waitMs = this.#addresses.take(nowMs, this.#slots.of(addressGroup(address)));
    if (waitMs > 0) throw this.#refused('maxRequestsPerSPerAddress', 'from this address', waitMs);
  }

  /**
   * To be called once it is known whose request it is. Returns what ends it, to be called once.
   *
   * @throws RATE_LIMITED with `retry_after_s`.
   */
  byPrincipal(id: string, nowMs: number): () => void {
    const slot = this.#slots.of(id);
    const waitMs = this.#principals?.take(nowMs, slot) ?? 0;
    if (waitMs > 0) throw this.#refused('maxRequestsPerSPerPrincipal', 'of this principal', waitMs);
    if (this.#inWork[slot]! >= this.#inWorkPerPrincipal)
      throw this.#refused('maxRequestsInFlightPerPrincipal', 'of this principal at once', 1);
    this.#inWork[slot] = this.#inWork[slot]! + 1;
    return () => {
      this.#inWork[slot] = this.#inWork[slot]! - 1;
    };
  }

  /**
   * To be called for a request that no principal is counted for. Returns what ends it, to be called once; undefined
   * where there is no room for it.
   */
  withoutIdentity(address: string): (() => void) | undefined {
    const slot = this.#slots.of(addressGroup(address));
    const full: LimitName | undefined =
      this.#strangers[slot]! >= this.#maxStrangersPerAddress
        ? 'maxRequestsInFlightPerAddress'
        : this.#strangersInAll >= this.#maxStrangers
          ? 'maxRequestsInFlightWithoutIdentity'
          : undefined;
    if (full !== undefined) {
      this.#limitReached(full);
      return undefined;
    }
    this.#strangers[slot] = this.#strangers[slot]! + 1;
    this.#strangersInAll++;
    return () => {
      this.#strangers[slot] = this.#strangers[slot]! - 1;
      this.#strangersInAll--;
    };
  }

  /**
   * To be called for a request that no principal is counted for, before it waits for the rest of its body. Returns what
   * ends it, to be called once; undefined where there is no room for it.
   */
  waitsForBody(address: string): (() => void) | undefined {
    const slot = this.#slots.of(addressGroup(address));
    if (this.#waiting[slot]! >= this.#maxWaitingPerAddress) {
      this.#limitReached('maxWaitingBodiesPerAddress');
      return undefined;
    }
    this.#waiting[slot] = this.#waiting[slot]! + 1;
    return () => {
      this.#waiting[slot] = this.#waiting[slot]! - 1;
    };
  }

  #refused(limit: LimitName, whose: string, waitMs: number): ServiceError {
    return refused(limit, this.#limitReached, whose, waitMs);
  }
}

function refused(
  limit: LimitName,
  limitReached: (limit: LimitName) => void,
  whose: string,
  waitMs: number,
): ServiceError {
  limitReached(limit);
  const seconds = Math.ceil(waitMs / 1000);
  return new ServiceError('RATE_LIMITED', `too many requests ${whose}; try again in ${seconds} s`, {
    retry_after_s: seconds,
  });
}

/** How often one address may read the transparency log without an identity. */
export class LogReadRate {
  readonly #slots = new KeyedSlots();
  readonly #addresses: TokenBuckets;
  readonly #limitReached: (limit: LimitName) => void;

  /** @param perAddress - reads a second */
  constructor(perAddress: number, limitReached: (limit: LimitName) => void) {
    this.#addresses = tokenBuckets(perAddress);
    this.#limitReached = limitReached;
  }

  /**
   * @param nowMs - of a clock that only goes forward
   * @throws RATE_LIMITED with `retry_after_s`.
   */
  take(address: string, nowMs: number): void {
    const waitMs = this.#addresses.take(nowMs, this.#slots.of(addressGroup(address)));
    if (waitMs > 0)
      throw refused('maxLogReadsPerSPerAddress', this.#limitReached, 'of the log from this address', waitMs);
  }
}

/** What may come at once after a pause, in seconds' worth: a page that opens, a shipper that catches up. */
const burstS = 2;

/** @param perS - tokens that flow in each second */
function tokenBuckets(perS: number): TokenBuckets {
  const tokenMs = 1000 / perS;
  return new TokenBuckets({ tokenMs, bucketMs: Math.max(tokenMs, burstS * 1000), slots: slotCount });
}
