import { addressGroup } from '../address-group.ts';
import { KeyedSlots, slotCount } from '../keyed-slots.ts';
import { type LimitName, limits } from '../limits.ts';

/** The part of a uWebSockets.js response that tells of its connection. */
export interface ConnectionSource {
  getRemoteAddressAsText(): ArrayBuffer;
  onAborted(handler: () => void): unknown;
  close(): unknown;
}

/** The part of a uWebSockets.js app that tells of connections: 1 for one that came, -1 for one that went. */
export interface ConnectionApp {
  filter(handler: (res: ConnectionSource, count: number) => void): unknown;
}

export interface ConnectionOptions {
  /** In all. Default `limits.maxConnections`. */
  readonly max?: number;
  /** From one address, of IPv6 from one /64; 0 for as many as come. Default `limits.maxConnectionsPerAddress`. */
  readonly maxPerAddress?: number;
  /** File descriptors that connections may have, lingering ones included. Default: as many as there are connections. */
  readonly descriptors?: number | undefined;
  readonly limitReached: (limit: LimitName) => void;
  /** Told of the first connection that is refused for a limit of them all, and then at most once a minute. */
  readonly onRefused?: (open: number) => void;
  /** Reports a connection that ended before a valid request, at most one an hour. */
  readonly onUnused?: (address: string) => void;
}

/**
 * Open connections, in total and by address. Connections over a limit are closed as they open, before a byte is read.
 *
 * The total follows the filter of uWebSockets.js, which reports each connection once when it opens and once when it
 * closes; an upgraded one closes as a WebSocket instead. A closed connection has no address any more, and the filter
 * does not identify it, so the count of its address is left to the abort handler that uWebSockets.js calls right after
 * the filter. It drops that handler with each answer; a handler bound to the address is therefore set in every state:
 *
 * ```
 *   opened ──request──▶ in work ──answer──▶ resting ──request──▶ …
 *     │       │            │                   │
 *     │       └─upgrade─▶ a WebSocket          │
 *     ▼ own handler  ▼ `ended()`  ▼ `lost()`   ▼ handler set by `rest()`
 *     closed
 * ```
 */
export class Connections {
  readonly #slots = new KeyedSlots();
  readonly #byAddress = new Uint16Array(slotCount);
  /** WebSockets that were closed and may linger, without being counted as open. */
  readonly #closingByAddress = new Uint16Array(slotCount);
  #closing = 0;
  readonly #max: number;
  readonly #maxPerAddress: number;
  readonly #descriptors: number;
  readonly #limitReached: (limit: LimitName) => void;
  readonly #onRefused: (open: number) => void;
  readonly #onUnused: (address: string) => void;
  #unusedAt = Number.NEGATIVE_INFINITY;
  #toldAt = Number.NEGATIVE_INFINITY;
  #open = 0;
  /** The filter has reported a close, and no address was counted down for it yet. */
  #closed = false;

  constructor({ max, maxPerAddress, descriptors, limitReached, onRefused, onUnused }: ConnectionOptions) {
    this.#max = max ?? limits.maxConnections;
    const perAddress = maxPerAddress ?? limits.maxConnectionsPerAddress;
    this.#maxPerAddress = perAddress === 0 ? maxCount : perAddress;
    this.#descriptors = descriptors ?? Number.POSITIVE_INFINITY;
    this.#limitReached = limitReached;
    this.#onRefused = onRefused ?? (() => {});
    this.#onUnused = onUnused ?? (() => {});
  }

  /** Connections open now. */
  get open(): number {
    return this.#open;
  }

  /** Of these, the ones from an address, or from one that shares its slot. */
  openFrom(address: string): number {
    return this.#byAddress[this.#slots.of(addressGroup(address))]!;
  }

  watch(app: ConnectionApp): void {
    const count = (res: ConnectionSource, change: number): void => {
      if (change > 0) return this.#came(res);
      this.#open--;
      this.#closed = true;
    };
    app.filter(count);
  }

  #came(res: ConnectionSource): void {
    const address = addressOf(res);
    const slot = this.#slots.of(addressGroup(address));
    const full: LimitName | undefined =
      this.#open >= this.#max || this.#open + this.#closing >= this.#descriptors
        ? 'maxConnections'
        : this.#byAddress[slot]! >= this.#maxPerAddress
          ? 'maxConnectionsPerAddress'
          : undefined;
    if (full !== undefined) this.#limitReached(full);
    if (full === 'maxConnections') this.#tell();
    this.#open++;
    this.#byAddress[slot] = this.#byAddress[slot]! + 1;
    res.onAborted(() => {
      this.#went(slot);
      if (full === undefined) this.#wentUnused(address);
    });
    // Without an address, the client has reset the connection already.
    if (full !== undefined || address === '') res.close();
  }

  #tell(): void {
    const now = performance.now();
    if (now - this.#toldAt < toldEveryMs) return;
    this.#toldAt = now;
    this.#onRefused(this.#open);
  }

  /** The request of a connection replaces the handler that calls this. */
  #wentUnused(address: string): void {
    const now = performance.now();
    if (now - this.#unusedAt < unusedEveryMs) return;
    this.#unusedAt = now;
    this.#onUnused(address);
  }

  /** A connection is gone: with a request in work, or with its last answer. */
  lost(address: string): void {
    this.#went(this.#slots.of(addressGroup(address)));
  }

  /**
   * A WebSocket was closed. Its connection may linger until the client ends its side, and nothing tells when it is
   * gone. Some may do so uncounted, so that an honest client finds room when it comes back; past these, each counts
   * as open for as long as it can linger, so that nobody has more descriptors than these limits allow.
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
   * A request was answered, in this very turn. The write of its last byte may have closed the connection, after
   * uWebSockets.js dropped the abort handler.
   *
   * @param res - another object for the same connection than the one that answered, which may not be touched any more
   */
  rest(address: string, res: ConnectionSource): void {
    if (this.#closed) return this.lost(address);
    const slot = this.#slots.of(addressGroup(address));
    res.onAborted(() => this.#went(slot));
  }

  /** Counts the address down once for each close that the filter reports, however often handlers are called. */
  #went(slot: number): void {
    if (!this.#closed) return;
    this.#closed = false;
    this.#byAddress[slot] = this.#byAddress[slot]! - 1;
  }

  #release(slot: number): void {
    this.#open--;
    this.#byAddress[slot] = this.#byAddress[slot]! - 1;
  }
}

/** However many are refused, the log is told so once. */
const toldEveryMs = 60_000;
/** Browsers and health checks open connections that they do not use. */
const unusedEveryMs = 3_600_000;

/** What a row of the table can count to. */
const maxCount = 2 ** 16 - 1;

export const addressOf = (res: Pick<ConnectionSource, 'getRemoteAddressAsText'>): string =>
  Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
