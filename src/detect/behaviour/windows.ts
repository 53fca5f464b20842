import type { Left } from './detector.ts';
import { Eldest } from './eldest.ts';

export interface WindowTerms<V> {
  /** Width of a slot, milliseconds of event time. */
  readonly slotMs: number;
  /** Slots of a window: the newest that a key has, and those before it. */
  readonly slots: number;
  /** Keys kept; beyond, one of those that were touched longest ago is forgotten. An attacker chooses how many there are. */
  readonly maxKeys: number;
  /** What all values may weigh together, by `weigh`; the same. */
  readonly maxWeight?: number;
  /** What a value weighs, in units of its own choice; 1 by default. */
  readonly weigh?: (value: V) => number;
  readonly create: () => V;
  /** Adds one value of a slot to another: in any order, and any grouping, the same. */
  readonly merge: (into: V, from: V) => void;
  /** Told of each key that is forgotten for others. */
  readonly forgot?: (window: Window<V>) => void;
}

/** What is kept of one key. */
export interface Window<V> {
  readonly key: string;
  /** Start of its newest slot, epoch milliseconds. */
  newest: number;
  /** By start of the slot. */
  readonly slots: Map<number, V>;
  /** When it was told last, by event time, and how grave it was: `-Infinity` and -1 before. */
  toldAt: number;
  toldRank: number;
  /** As of the last time that it was weighed. */
  weight: number;
  /** Of its newest slot, which is asked for most. */
  value: V | undefined;
  /** Added to since it was asked last what changed. */
  isChanged: boolean;
  /** Which of these times was the next when it was put behind the others. */
  round: number;
}

/** A key is put behind the others as touched latest once in so many rounds: that costs more than adding to it. */
const roundsOfOrder = 16;

/** Plain data: structured clone takes it. Keys touched longest ago come first. */
export type WindowsState<V> = readonly {
  readonly key: string;
  readonly slots: readonly (readonly [start: number, value: V])[];
  readonly toldAt: number;
  readonly toldRank: number;
}[];

/**
 * Values by key in a sliding window of event time, cut into slots that are aligned to the epoch, so that two of them can
 * be merged. Each key has its own watermark: the window ends with the newest slot that the key has, and what is older
 * than the window is late, and counted as that. History that is loaded beside live traffic so spoils neither.
 */
export class Windows<V> {
  readonly #terms: WindowTerms<V>;
  /** In the order in which they were touched. */
  readonly #windows = new Map<string, Window<V>>();
  readonly #eldest = new Eldest(this.#windows);
  #changed: Window<V>[] = [];
  /** How often it was asked what changed. */
  #round = 0;
  #weight = 0;
  #late = 0;
  #forgotten = 0;

  constructor(terms: WindowTerms<V>) {
    this.#terms = terms;
  }

  get left(): Left {
    return { late: this.#late, forgotten: this.#forgotten };
  }

  get size(): number {
    return this.#windows.size;
  }

  /** The value of the slot that a time is in, to be added to; undefined for what is late. */
  at(key: string, time: number): V | undefined {
    const { slotMs, maxKeys } = this.#terms;
    let window = this.#windows.get(key);
    if (window === undefined) {
      if (this.#windows.size >= maxKeys) this.#forgetOldest();
      window = newWindow(key, Math.floor(time / slotMs) * slotMs, this.#round);
      this.#windows.set(key, window);
    }
    return this.in(window, time);
  }

  /** As `at`, of a window that is kept: it costs a fifth, as no key is built and looked up. */
  in(window: Window<V>, time: number): V | undefined {
    const { slotMs, slots, create } = this.#terms;
    const { newest } = window;
    const sinceNewest = time - newest;
    if (this.#round - window.round >= roundsOfOrder) this.#touch(window);
    if (sinceNewest >= 0 && sinceNewest < slotMs && window.value !== undefined) {
      if (!window.isChanged) this.#change(window);
      return window.value;
    }
    const start = Math.floor(time / slotMs) * slotMs;
    if (start > newest) this.#advance(window, start);
    else if (start <= newest - slots * slotMs) {
      this.#late++;
      return undefined;
    }
    if (!window.isChanged) this.#change(window);
    let value = window.slots.get(start);
    if (value === undefined) {
      value = create();
      window.slots.set(start, value);
    }
    if (start === window.newest) window.value = value;
    return value;
  }

  /** Those touched longest ago first. */
  keys(): IterableIterator<string> {
    return this.#windows.keys();
  }

  peek(key: string): Window<V> | undefined {
    return this.#windows.get(key);
  }

  /** All keys, those touched longest ago first. */
  all(): IterableIterator<Window<V>> {
    return this.#windows.values();
  }

  /** The keys whose values were added to since it was asked last. */
  changed(): Window<V>[] {
    const { maxWeight = Number.POSITIVE_INFINITY } = this.#terms;
    const changed = this.#changed.filter(({ isChanged }) => isChanged);
    this.#changed = [];
    this.#round++;
    for (const window of changed) {
      window.isChanged = false;
      this.#weigh(window);
    }
    while (this.#weight > maxWeight && this.#windows.size > 1) this.#forgetOldest();
    return changed;
  }

  /** What the window of a key has, in one value. */
  total(window: Window<V>): V {
    const { create, merge } = this.#terms;
    const total = create();
    for (const [, value] of inOrder(window)) merge(total, value);
    return total;
  }

  state(): WindowsState<V> {
    return Array.from(this.#windows.values(), (window) => ({
      key: window.key,
      slots: inOrder(window),
      toldAt: window.toldAt,
      toldRank: window.toldRank,
    }));
  }

  restore(state: WindowsState<V>): void {
    this.#windows.clear();
    this.#changed = [];
    this.#weight = 0;
    this.merge(state);
    this.changed();
  }

  merge(state: WindowsState<V>): void {
    for (const { key, slots, toldAt, toldRank } of state) {
      for (const [start, from] of slots) {
        const into = this.at(key, start);
        if (into !== undefined) this.#terms.merge(into, from);
      }
      const window = this.#windows.get(key);
      if (window === undefined || toldAt < window.toldAt) continue;
      window.toldRank = toldAt > window.toldAt ? toldRank : Math.max(toldRank, window.toldRank);
      window.toldAt = toldAt;
    }
  }

  #advance(window: Window<V>, newest: number): void {
    const { slotMs, slots } = this.#terms;
    window.newest = newest;
    window.value = undefined;
    const oldest = newest - (slots - 1) * slotMs;
    for (const start of window.slots.keys()) if (start < oldest) window.slots.delete(start);
  }

  #change(window: Window<V>): void {
    window.isChanged = true;
    this.#changed.push(window);
  }

  #touch(window: Window<V>): void {
    window.round = this.#round;
    this.#windows.delete(window.key);
    this.#windows.set(window.key, window);
  }

  #weigh(window: Window<V>): void {
    const { weigh } = this.#terms;
    let weight = 0;
    for (const value of window.slots.values()) weight += weigh?.(value) ?? 1;
    this.#weight += weight - window.weight;
    window.weight = weight;
  }

  #forgetOldest(): void {
    const key = this.#eldest.next();
    const window = key === undefined ? undefined : this.#windows.get(key);
    if (window === undefined) return;
    this.#windows.delete(window.key);
    window.isChanged = false;
    this.#weight -= window.weight;
    this.#forgotten++;
    this.#terms.forgot?.(window);
  }
}

/**
 * Whether something is to be told that is as grave as this: for the first time, when it became graver, and again when it
 * goes on after a pause. Notes that it was.
 */
export function isDue(
  window: Pick<Window<unknown>, 'toldAt' | 'toldRank'>,
  rank: number,
  time: number,
  againMs: number,
): boolean {
  if (rank <= window.toldRank && time < window.toldAt + againMs) return false;
  window.toldRank = rank;
  window.toldAt = Math.max(window.toldAt, time);
  return true;
}

function newWindow<V>(key: string, newest: number, round: number): Window<V> {
  const untold = { toldAt: Number.NEGATIVE_INFINITY, toldRank: -1 };
  return { key, newest, slots: new Map(), ...untold, weight: 0, value: undefined, isChanged: false, round };
}

function inOrder<V>({ slots }: Window<V>): [number, V][] {
  return [...slots].sort(([a], [b]) => a - b);
}
