import { addConnection, addHour, type Hour, hourMs, noConnections } from './beacon-pair.ts';
import { ConnectionSlots, type ConnectionSlotsState, type PairHash } from './connection-slots.ts';
import type { Flow, Left } from './detector.ts';
import { hashText } from './distinct-names.ts';
import { type Window, Windows, type WindowsState } from './windows.ts';

export interface BeaconPairsTerms {
  readonly hours: number;
  /** Connections of a pair from which on it has a record. */
  readonly recordFrom: number;
  readonly keptPerHour: number;
  /** Connections of pairs without one that are remembered; a power of two. */
  readonly connections: number;
  /** Records, and what they may weigh in numbers of 8 bytes. */
  readonly records: number;
  readonly maxWeight: number;
}

export interface BeaconPairsState {
  readonly slots: ConnectionSlotsState;
  readonly records: WindowsState<Hour>;
}

/**
 * Connections by pair, in a window of hours: those of a pair that has few, which most have, in `ConnectionSlots`, and when
 * it has enough to be judged, all of them in a record. Nothing of them is lost by that: what is known of a pair is the
 * same in both, and the same in whatever order its connections come, as long as there is room.
 *
 * ```
 *   flow ─▶ hashes of the pair ─▶ slots ── few ──▶ one more slot
 *                                   │└── enough ─▶ taken out, into a new record
 *                                   └─ number ───▶ record: Window<Hour>
 * ```
 *
 * The pair's key is written only when it gets its record.
 */
export class BeaconPairs {
  readonly slots: ConnectionSlots;
  readonly #terms: BeaconPairsTerms;
  readonly #windows: Windows<Hour>;
  /** By their numbers in the slots. */
  readonly #records: (Window<Hour> | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #pair: PairHash = { src: 0, dst: 0, what: 0 };
  #late = 0;

  constructor(terms: BeaconPairsTerms) {
    this.#terms = terms;
    this.slots = new ConnectionSlots(terms.connections, terms.hours);
    this.#windows = new Windows<Hour>({
      slotMs: hourMs,
      slots: terms.hours,
      maxKeys: terms.records,
      maxWeight: terms.maxWeight,
      weigh: ({ kept }) => 28 + kept.length,
      create: noConnections,
      merge: (into, from) => addHour(into, from, terms.keptPerHour),
      forgot: (window) => this.#forgot(window),
    });
  }

  get left(): Left {
    const { late, forgotten, stale } = this.#windows.left;
    return { late: late + this.#late, forgotten: forgotten + this.slots.forgotten, stale };
  }

  /** Counts a connection; false for what is late. */
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
      addConnection(hour, second, srcBytes, dstBytes, seq, this.#terms.keptPerHour);
      return true;
    }
    if (!this.slots.advance(second)) {
      this.#late++;
      return false;
    }
    if (this.slots.count < this.#terms.recordFrom - 1) {
      this.slots.add(second, srcBytes, dstBytes, seq);
      return true;
    }
    const key = `${src} ${dst} ${port} ${transport}${dstHome ? ' home' : ''}`;
    const window = this.#record(key, pair, second, seq);
    const hour = this.#windows.in(window, second * 1000);
    if (hour !== undefined) addConnection(hour, second, srcBytes, dstBytes, seq, this.#terms.keptPerHour);
    return hour !== undefined;
  }

  /** Records that were added to since it was asked last. */
  changed(refreshes?: boolean): readonly Window<Hour>[] {
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

  /** A pair that has enough connections only with those of both gets its record with the next one. */
  merge({ slots, records }: BeaconPairsState): void {
    this.#windows.merge(records);
    for (const { key, slots } of records) {
      const window = this.#windows.peek(key);
      if (window === undefined) continue;
      const [, hour] = slots.at(-1) ?? [];
      this.#record(key, hashed(key), window.newest / 1000, hour?.lastSeq ?? 0);
    }
    const other = new ConnectionSlots(this.#terms.connections, this.#terms.hours);
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
        addConnection(hour, second, srcBytes, dstBytes, whole(seq, near), this.#terms.keptPerHour);
    });
  }

  /** The record of a pair, with what the slots have of it. */
  #record(key: string, pair: PairHash, second: number, seq: number): Window<Hour> {
    const number = this.slots.look(pair);
    const taken = this.slots.take();
    // Late ones must find it as new as it becomes.
    this.#windows.at(key, Math.max(second, ...taken.map((one) => one.second)) * 1000);
    const window = this.#windows.peek(key)!;
    for (const one of taken) {
      const hour = this.#windows.in(window, one.second * 1000);
      if (hour === undefined) continue;
      const { srcBytes, dstBytes } = one;
      addConnection(hour, one.second, srcBytes, dstBytes, whole(one.seq, seq), this.#terms.keptPerHour);
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

/** Of the pair that a key is of. */
function hashed(key: string): PairHash {
  const [src = '', dst = '', port, transport = '', to] = key.split(' ');
  return { src: hashText(src), dst: hashText(dst), what: whatOf(Number(port), transport, to === 'home') };
}

/** Port in 16 bits, transport in 7, whether it is to a home host in 1. */
function whatOf(port: number, transport: string, toHome: boolean): number {
  const kind = transport === 'tcp' ? 1 : transport === 'udp' ? 2 : 3 + (hashText(transport) % 125);
  return port | (kind << 16) | (toHome ? 0x80_0000 : 0);
}

/** The sequence nearest to another that has these lower 32 bits. */
function whole(lower: number, near: number): number {
  return near - ((((near % 2 ** 32) >>> 0) - lower) | 0);
}

function lastSeqOf({ slots }: Window<Hour>): number {
  let last = 0;
  for (const { value } of slots) if (value.lastSeq > last) last = value.lastSeq;
  return last;
}
