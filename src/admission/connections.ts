import { type LimitName, limits } from '../limits.ts';
import { addressGroup } from '../net/address-group.ts';
import { KeyedSlots, slotCount } from './keyed-slots.ts';

/** The part of a uWebSockets.js response that describes its connection. */
export interface ConnectionSource {
  getRemoteAddressAsText(): ArrayBuffer;
  onAborted(handler: () => void): unknown;
  close(): unknown;
}

/**
 * The part of a uWebSockets.js app that reports connections: `count` is 1 for an opened connection and -1 for
 * a closed connection.
 */
export interface ConnectionApp {
  filter(handler: (res: ConnectionSource, count: number) => void): unknown;
}

export interface ConnectionOptions {
  /** Maximum number of connections. Default `limits.maxConnections`. */
  readonly max?: number;
  /**
   * Maximum number of connections from one address, or one IPv6 /64; 0 for no limit. Default
   * `limits.maxConnectionsPerAddress`.
   */
  readonly maxPerAddress?: number;
  /** Number of file descriptors for connections, including lingering ones. Default: no limit. */
  readonly descriptors?: number | undefined;
  readonly limitReached: (limit: LimitName) => void;
  /** Called for a connection refused because of `max` or `descriptors`, at most once a minute. */
  readonly onRefused?: (open: number) => void;
  /** Called for a connection that ended before its first valid request, at most once an hour. */
  readonly onUnused?: (address: string) => void;
  /** Called once if more closed than opened connections were reported, in total or for a slot. */
  readonly onMiscount?: () => void;
}

/**
 * Counts open connections, in total and by address. A connection over a limit is closed when it opens, before
 * a byte is read.
 *
 * The total follows the filter of uWebSockets.js, which reports each connection once when it opens and once
 * when it closes. The close of an upgraded connection is reported only by its WebSocket. The filter does not
 * identify a closed connection, which no longer has an address. Therefore, the abort handler, which uWebSockets.js
 * calls right after the filter, reduces the count of the address. uWebSockets.js drops the handler with each response,
 * so a handler bound to the address is set in every state:
 *
 * ```
 *   opened ──request──▶ serving ──response──▶ resting ──request──▶ …
 *     │       │            │                     │
 *     │       └─upgrade─▶ a WebSocket            │
 *     ▼ own handler  ▼ `ended()`  ▼ `lost()`   ▼ handler set by `rest()`
 *     closed
 * ```
 */
export class Connections {
  readonly #slots = new KeyedSlots();
  readonly #byAddress = new Uint16Array(slotCount);
  /** Closed WebSockets that may linger and are not counted as open. */
  readonly #closingByAddress = new Uint16Array(slotCount);
  #closing = 0;
  readonly #options: ConnectionOptions;
  readonly #maxPerAddress: number;
  #unusedAt = Number.NEGATIVE_INFINITY;
  #hasMiscounted = false;
  #toldAt = Number.NEGATIVE_INFINITY;
  #open = 0;
  /** Whether the filter has reported a close for which the count of an address has not been reduced yet. */
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const perAddress = options.maxPerAddress ?? limits.maxConnectionsPerAddress;
    this.#maxPerAddress = perAddress === 0 ? maxCount : perAddress;
  }

  /** The number of open connections. */
  get open(): number {
    return this.#open;
  }

  /** Returns the number of open connections from an address and from other addresses that share its slot. */
  openFrom(address: string): number {
    return this.#byAddress[this.#slots.of(addressGroup(address))]!;
  }

  watch(app: ConnectionApp): void {
    const count = (res: ConnectionSource, change: number): void => {
      if (change > 0) return this.#came(res);
      this.#open = this.#less(this.#open);
      this.#closed = true;
    };
    app.filter(count);
  }

  #came(res: ConnectionSource): void {
    const address = addressOf(res);
    const slot = this.#slots.of(addressGroup(address));
    const { max = limits.maxConnections, descriptors = Number.POSITIVE_INFINITY } = this.#options;
    const full: LimitName | undefined =
      this.#open >= max || this.#open + this.#closing >= descriptors
        ? 'maxConnections'
        : this.#byAddress[slot]! >= this.#maxPerAddress
          ? 'maxConnectionsPerAddress'
          : undefined;
    if (full !== undefined) this.#options.limitReached(full);
    if (full === 'maxConnections') this.#tell();
    this.#open++;
    this.#byAddress[slot] = this.#byAddress[slot]! + 1;
    res.onAborted(() => {
      this.#went(slot);
      if (full === undefined) this.#wentUnused(address);
    });
    // An empty address means that the client has already reset the connection.
    if (full !== undefined || address === '') res.close();
  }

  #tell(): void {
    const now = performance.now();
    if (now - this.#toldAt < toldEveryMs) return;
    this.#toldAt = now;
    this.#options.onRefused?.(this.#open);
  }

  /**
   * Reports a connection that ended before its first request. A request replaces the handler that calls this method.
   */
  #wentUnused(address: string): void {
    const now = performance.now();
    if (now - this.#unusedAt < unusedEveryMs) return;
    this.#unusedAt = now;
    this.#options.onUnused?.(address);
  }

  /** Reduces the count of the address of a connection that was lost with a request in progress or its last response. */
  lost(address: string): void {
    this.#went(this.#slots.of(addressGroup(address)));
  }

  /**
   * Counts a closed WebSocket. The connection may linger until the client closes its side, which is not
   * reported. A limited number of connections may linger uncounted, so that honest clients can reconnect.
   * Further connections count as open for the maximum time that they can linger, so that no client exceeds
   * the limits on descriptors.
   */
  ended(address: string): void {
    const slot = this.#slots.of(addressGroup(address));
    if (
      this.#closing >= limits.maxClosingSockets ||
      this.#closingByAddress[slot]! >= limits.maxClosingSocketsPerAddress
    ) {
      setTimeout(() => this.#release(slot), limits.closingSocketMs).unref();
      return;
    }
    this.#release(slot);
    this.#closing++;
    this.#closingByAddress[slot] = this.#closingByAddress[slot]! + 1;
    setTimeout(() => {
      this.#closing--;
      this.#closingByAddress[slot] = this.#closingByAddress[slot]! - 1;
    }, limits.closingSocketMs).unref();
  }

  /**
   * Sets the handler again after the response to a request was sent; must be called synchronously. Writing
   * the last byte may have closed the connection, after uWebSockets.js dropped the abort handler.
   *
   * @param res - another object for the same connection; the response that was sent must not be used any more
   */
  rest(address: string, res: ConnectionSource): void {
    if (this.#closed) return this.lost(address);
    const slot = this.#slots.of(addressGroup(address));
    res.onAborted(() => this.#went(slot));
  }

  /**
   * Reduces the count of the address once for each close that the filter reports, even if handlers are called
   * repeatedly.
   */
  #went(slot: number): void {
    if (!this.#closed) return;
    this.#closed = false;
    this.#byAddress[slot] = this.#less(this.#byAddress[slot]!);
  }

  #release(slot: number): void {
    this.#open = this.#less(this.#open);
    this.#byAddress[slot] = this.#less(this.#byAddress[slot]!);
  }

  /**
   * Subtracts one, but never below zero: an unsigned cell would wrap to 65,535 connections and block the
   * address. Reports the first count that would fall below zero.
   */
  #less(count: number): number {
    if (count > 0) return count - 1;
    if (!this.#hasMiscounted) this.#options.onMiscount?.();
    this.#hasMiscounted = true;
    return 0;
  }
}

/** Minimum interval between log lines about refusals. */
const toldEveryMs = 60_000;
/** Minimum interval between log lines about unused connections, which browsers and health checks open too. */
const unusedEveryMs = 3_600_000;

/** The highest count that a cell of the table can hold. */
const maxCount = 2 ** 16 - 1;

export const addressOf = (res: Pick<ConnectionSource, 'getRemoteAddressAsText'>): string =>
  Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
