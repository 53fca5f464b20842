import { ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';
import { addressGroup } from '../net/address-group.ts';
import { KeyedSlots, slotCount } from './keyed-slots.ts';
import { TokenBuckets } from './token-buckets.ts';

export interface RequestRateOptions {
  /** Maximum requests per second from one address; 0 for no limit. */
  readonly perAddress: number;
  readonly perPrincipal: number;
  /** Maximum concurrent requests of one principal. Default `limits.maxRequestsInFlightPerPrincipal`. */
  readonly inWorkPerPrincipal?: number;
  /** Maximum concurrent unauthenticated requests. Default `limits.maxRequestsInFlightWithoutIdentity`. */
  readonly inWorkWithoutIdentity?: number;
  /**
   * Maximum concurrent unauthenticated requests from one address. Default
   * `limits.maxRequestsInFlightPerAddress`.
   */
  readonly inWorkPerAddress?: number;
  /**
   * Maximum unauthenticated requests from one address that wait for the rest of their bodies. Default
   * `limits.maxWaitingBodiesPerAddress`.
   */
  readonly waitingPerAddress?: number;
  readonly limitReached: (limit: LimitName) => void;
}

/**
 * Limits the request rate and the concurrent requests of each address and principal. The limits are high
 * enough that normal users never reach them, and low enough that one user cannot crowd out the others.
 */
export class RequestRate {
  readonly #slots = new KeyedSlots();
  readonly #addresses: TokenBuckets | undefined;
  readonly #principals: TokenBuckets | undefined;
  readonly #inWork = new Uint16Array(slotCount);
  readonly #strangers = new Uint16Array(slotCount);
  readonly #waiting = new Uint16Array(slotCount);
  #strangersInAll = 0;
  readonly #options: RequestRateOptions;

  constructor(options: RequestRateOptions) {
    const { perAddress, perPrincipal } = options;
    this.#options = options;
    this.#addresses = perAddress === 0 ? undefined : tokenBuckets(perAddress);
    this.#principals = perPrincipal === 0 ? undefined : tokenBuckets(perPrincipal);
  }

  /**
   * Counts a request for its address. Must be called for every request, before any work.
   *
   * @param nowMs - time of a monotonic clock
   * @throws RATE_LIMITED with `retry_after_s`
   */
  fromAddress(address: string, nowMs: number): void {
    if (this.#addresses === undefined) return;
    const waitMs = this.#addresses.take(nowMs, this.#slots.of(addressGroup(address)));
    if (waitMs > 0) throw this.#refused('maxRequestsPerSPerAddress', 'from this address', waitMs);
  }

  /**
   * Counts a request for its principal and returns a function that ends the request, to be called once.
   *
   * @throws RATE_LIMITED with `retry_after_s`
   */
  byPrincipal(id: string, nowMs: number): () => void {
    const slot = this.#slots.of(id);
    const waitMs = this.#principals?.take(nowMs, slot) ?? 0;
    if (waitMs > 0) throw this.#refused('maxRequestsPerSPerPrincipal', 'of this principal', waitMs);
    if (this.#inWork[slot]! >= (this.#options.inWorkPerPrincipal ?? limits.maxRequestsInFlightPerPrincipal))
      throw this.#refused('maxRequestsInFlightPerPrincipal', 'of this principal in progress', 1);
    this.#inWork[slot] = this.#inWork[slot]! + 1;
    return () => {
      this.#inWork[slot] = this.#inWork[slot]! - 1;
    };
  }

  /**
   * Counts an unauthenticated request. Returns a function that ends the request, to be called once, or
   * undefined if a limit is reached.
   */
  withoutIdentity(address: string): (() => void) | undefined {
    const slot = this.#slots.of(addressGroup(address));
    const { inWorkPerAddress, inWorkWithoutIdentity } = this.#options;
    const full: LimitName | undefined =
      this.#strangers[slot]! >= (inWorkPerAddress ?? limits.maxRequestsInFlightPerAddress)
        ? 'maxRequestsInFlightPerAddress'
        : this.#strangersInAll >= (inWorkWithoutIdentity ?? limits.maxRequestsInFlightWithoutIdentity)
          ? 'maxRequestsInFlightWithoutIdentity'
          : undefined;
    if (full !== undefined) {
      this.#options.limitReached(full);
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
   * Counts an unauthenticated request that waits for the rest of its body. Returns a function that ends the
   * wait, to be called once, or undefined if the limit is reached.
   */
  waitsForBody(address: string): (() => void) | undefined {
    const slot = this.#slots.of(addressGroup(address));
    if (this.#waiting[slot]! >= (this.#options.waitingPerAddress ?? limits.maxWaitingBodiesPerAddress)) {
      this.#options.limitReached('maxWaitingBodiesPerAddress');
      return undefined;
    }
    this.#waiting[slot] = this.#waiting[slot]! + 1;
    return () => {
      this.#waiting[slot] = this.#waiting[slot]! - 1;
    };
  }

  #refused(limit: LimitName, whose: string, waitMs: number): ServiceError {
    return refused(limit, this.#options.limitReached, whose, waitMs);
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

/** Limits unauthenticated reads of the transparency log per address. */
export class LogReadRate {
  readonly #slots = new KeyedSlots();
  readonly #addresses: TokenBuckets;
  readonly #limitReached: (limit: LimitName) => void;

  /** @param perAddress - reads per second */
  constructor(perAddress: number, limitReached: (limit: LimitName) => void) {
    this.#addresses = tokenBuckets(perAddress);
    this.#limitReached = limitReached;
  }

  /**
   * Counts a read from an address.
   *
   * @param nowMs - time of a monotonic clock
   * @throws RATE_LIMITED with `retry_after_s`
   */
  take(address: string, nowMs: number): void {
    const waitMs = this.#addresses.take(nowMs, this.#slots.of(addressGroup(address)));
    if (waitMs > 0)
      throw refused('maxLogReadsPerSPerAddress', this.#limitReached, 'of the log from this address', waitMs);
  }
}

/**
 * Size of a burst, in seconds at the maximum rate. A page that opens, or a shipper with a backlog, sends a
 * burst.
 */
const burstS = 2;

/** Creates buckets. @param perS - tokens added per second */
function tokenBuckets(perS: number): TokenBuckets {
  const tokenMs = 1000 / perS;
  return new TokenBuckets({ tokenMs, bucketMs: Math.max(tokenMs, burstS * 1000), slots: slotCount });
}
