import type { DropCounts, Flow } from '../detector.ts';
import { addConnection, addHour, type Hour, hourMs, noConnections } from './beacon-pair.ts';
import { ConnectionSlots, type ConnectionSlotsState, type PairHash } from './connection-slots.ts';
import { hashText } from './distinct-sketch.ts';
import { type Window, Windows, type WindowsState } from './windows.ts';

export interface BeaconPairsOptions {
  readonly hours: number;
  /** Minimum connections of a pair that is stored as a record. */
  readonly recordFrom: number;
  readonly keptPerHour: number;
  /** Maximum connections of pairs without a record; a power of two. */
  readonly connections: number;
  /** Maximum records. */
  readonly records: number;
  /** Maximum total weight of the records, in units of 8 bytes. */
  readonly maxWeight: number;
}

export interface BeaconPairsState {
  readonly slots: ConnectionSlotsState;
  readonly records: WindowsState<Hour>;
}

/**
 * Stores connections by pair, in a window of hours. Most pairs have few connections, which are stored in
 * `ConnectionSlots`. Once a pair has enough connections to evaluate, all its connections move to a record. While there
 * is room, the result does not depend on the place of storage or on the order of the connections.
 *
 * ```
 *   flow ─▶ hashes of the pair ─▶ slots ── few ──▶ one more slot
 *                                   │└── enough ─▶ taken out, into a new record
 *                                   └─ number ───▶ record: Window<Hour>
 * ```
 *
 * The key of a pair is built only for its record.
 */
export class BeaconPairs {
  readonly slots: ConnectionSlots;
  readonly #options: BeaconPairsOptions;
  readonly #windows: Windows<Hour>;
  /** Records by their numbers in the slots. */
  readonly #records: (Window<Hour> | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #pair: PairHash = { src: 0, dst: 0, what: 0 };
  #late = 0;

  constructor(options: BeaconPairsOptions) {
    this.#options = options;
    this.slots = new ConnectionSlots(options.connections, options.hours);
    this.#windows = new Windows<Hour>({
      slotMs: hourMs,
      slots: options.hours,
      maxKeys: options.records,
      maxWeight: options.maxWeight,
      weigh: ({ kept }) => 28 + kept.length,
      create: noConnections,
      merge: (into, from) => addHour(into, from, options.keptPerHour),
      forgot: (window) => this.#forgot(window),
    });
  }

  get dropped(): DropCounts {
    const { late, forgotten, stale } = this.#windows.dropped;
    return { late: late + this.#late, forgotten: forgotten + this.slots.forgotten, stale };
  }

  /** Adds a connection; returns false if it is late. */
  add(flow: Readonly<Flow>): boolean {
    const { src, dst, port, transport, dstHome, seq } = flow;
    const second = Math.floor(flow.time / 1000);
    const srcBytes = Math.fround(flow.srcBytes);
    const dstBytes = Math.fround(flow.dstBytes);
    const pair = this.#pair;
    pair.src = flow.srcHash ?? hashText(src);
    pair.dst = flow.dstHash ?? hashText(dst);
    pair.what = whatOf(port, transport, dstHome);
    const record = this.#records[this.slots.look(pair)];
    if (record !== undefined) {
      const hour = this.#windows.in(record, second * 1000);
      if (hour === undefined) return false;
      addConnection(hour, second, srcBytes, dstBytes, seq, this.#options.keptPerHour);
      return true;
    }
    if (!this.slots.advance(second)) {
      this.#late++;
      return false;
    }
    if (this.slots.count < this.#options.recordFrom - 1) {
      this.slots.add(second, srcBytes, dstBytes, seq);
      return true;
    }
    const key = `${src} ${dst} ${port} ${transport}${dstHome ? ' home' : ''}`;
    const window = this.#record(key, pair, second, seq);
    const hour = this.#windows.in(window, second * 1000);
    if (hour !== undefined) addConnection(hour, second, srcBytes, dstBytes, seq, this.#options.keptPerHour);
    return hour !== undefined;
  }

  /**
   * Returns the records to which connections were added since the last call. With `refreshes`, also returns a limited
   * number of records whose reports are due for a refresh.
   */
  changed(refreshes?: boolean): Iterable<Window<Hour>> {
    return this.#windows.changed(refreshes);
  }

  defer(window: Window<Hour>): void {
    this.#windows.defer(window);
  }

  state(): BeaconPairsState {
    return { slots: this.slots.state(), records: this.#windows.state() };
  }

  restore({ slots, records }: BeaconPairsState): void {
    this.#records.length = 0;
    this.#free.length = 0;
    this.#windows.restore(records);
    this.slots.restore(slots);
    for (const window of this.#windows.all()) {
      this.slots.look(hashed(window.key));
      this.slots.renumber(this.#records.length);
      this.#records.push(window);
    }
  }

  /**
   * Merges a state. A pair that reaches the required number of connections only through the merge gets its
   * record with its next connection.
   */
  merge({ slots, records }: BeaconPairsState): void {
    this.#windows.merge(records);
    for (const { key, slots } of records) {
      const window = this.#windows.peek(key);
      if (window === undefined) continue;
      const [, hour] = slots.at(-1) ?? [];
      this.#record(key, hashed(key), window.newest / 1000, hour?.lastSeq ?? 0);
    }
    const other = new ConnectionSlots(this.#options.connections, this.#options.hours);
    other.restore(slots);
    other.each((pair, { second, srcBytes, dstBytes, seq }) => {
      const record = this.#records[this.slots.look(pair)];
      if (record === undefined) {
        if (this.slots.advance(second)) this.slots.add(second, srcBytes, dstBytes, seq);
        else this.#late++;
        return;
      }
      const hour = this.#windows.in(record, second * 1000);
      const near = lastSeqOf(record);
      if (hour !== undefined)
        addConnection(hour, second, srcBytes, dstBytes, whole(seq, near), this.#options.keptPerHour);
    });
  }

  /** Moves the connections of a pair from the slots to its record. Creates a missing record. */
  #record(key: string, pair: PairHash, second: number, seq: number): Window<Hour> {
    const number = this.slots.look(pair);
    const taken = this.slots.take();
    // The newest time comes first, so that late connections find the final window.
    this.#windows.at(key, Math.max(second, ...taken.map((one) => one.second)) * 1000);
    const window = this.#windows.peek(key)!;
    for (const one of taken) {
      const hour = this.#windows.in(window, one.second * 1000);
      if (hour === undefined) continue;
      const { srcBytes, dstBytes } = one;
      addConnection(hour, one.second, srcBytes, dstBytes, whole(one.seq, seq), this.#options.keptPerHour);
    }
    if (this.#records[number] === undefined) {
      const free = this.#free.pop() ?? this.#records.length;
      this.#records[free] = window;
      this.slots.look(pair);
      this.slots.record(free);
    }
    return window;
  }

  #forgot(window: Window<Hour>): void {
    const number = this.slots.look(hashed(window.key));
    if (this.#records[number] !== window) return;
    this.slots.unrecord();
    this.#records[number] = undefined;
    this.#free.push(number);
  }
}

/** Hashes the pair that a key identifies. */
function hashed(key: string): PairHash {
  const [src = '', dst = '', port, transport = '', to] = key.split(' ');
  return { src: hashText(src), dst: hashText(dst), what: whatOf(Number(port), transport, to === 'home') };
}

/** Packs the port (16 bits), the transport (7 bits), and whether the target is a home host (1 bit). */
function whatOf(port: number, transport: string, toHome: boolean): number {
  const kind = transport === 'tcp' ? 1 : transport === 'udp' ? 2 : 3 + (hashText(transport) % 125);
  return port | (kind << 16) | (toHome ? 0x80_0000 : 0);
}

/** Returns the sequence nearest to `near` that has the lower 32 bits `lower`. */
function whole(lower: number, near: number): number {
  return near - ((((near % 2 ** 32) >>> 0) - lower) | 0);
}

function lastSeqOf({ slots }: Window<Hour>): number {
  let last = 0;
  for (const { value } of slots) if (value.lastSeq > last) last = value.lastSeq;
  return last;
}
