import { limits } from '../../limits.ts';
import type { Due, Left } from './detector.ts';
import { nothing } from './put-at.ts';
import { ByKey, type KeyForm, type WindowIndex } from './window-index.ts';

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
  /** By which keys are found; by their texts by default. Of these windows alone. */
  readonly index?: WindowIndex<V>;
}

/** A part of the time of a window. */
export interface Slot<V> {
  /** Epoch milliseconds. */
  readonly start: number;
  readonly value: V;
}

/** What is kept of one key. */
export class Window<V> {
  /** The parts of its key, of which it is written when somebody wants it; its index fills them in. */
  first: unknown;
  second: unknown;
  form: KeyForm<unknown, unknown> | undefined;
  /** Start of its newest slot, epoch milliseconds. */
  newest = 0.5;
  /** The same as a count of slots: an integer stands in the window, a time behind it. */
  newestSlot = 0;
  /** In the order in which they were first added to. Most keys have one: a list of it takes half of what a map does. */
  slots: Slot<V>[] = nothing;
  /** When it was told last, by event time, and how grave it was: `-Infinity` and -1 before. */
  toldAt = Number.NEGATIVE_INFINITY;
  toldRank = -1;
  /** The largest figure that was reported since. */
  toldFigure = 0;
  /** Its report is to be refreshed with this judgement. */
  isRefreshing = false;
  /** As of the last time that it was weighed. */
  weight = 0;
  /** Of its newest slot, which is asked for most. */
  value: V | undefined;
  /** Added to since it was asked last what changed. */
  isChanged = false;
  /** Gone for others: who kept it finds it no more. */
  isForgotten = false;
  /** Which of these times was the next when it was put behind the others. */
  round = 0;
  /** Its neighbours in the order of their touch. */
  older: Window<V> | undefined;
  newer: Window<V> | undefined;

  constructor(newest: number, newestSlot: number, round: number) {
    this.newest = newest;
    this.newestSlot = newestSlot;
    this.round = round;
  }

  get key(): string {
    return this.form!.write(this.first, this.second);
  }
}

interface PartIndex<V, A, B> {
  of(first: A, second: B): Window<V> | undefined;
  put(first: A, second: B, window: Window<V>): void;
}

/** A key is put behind the others as touched latest once in so many rounds: that costs more than adding to it. */
const roundsOfOrder = 4;

/** Plain data: structured clone takes it. Keys touched longest ago come first. */
export type WindowsState<V> = readonly {
  readonly key: string;
  readonly slots: readonly (readonly [start: number, value: V])[];
  readonly toldAt: number;
  readonly toldRank: number;
  /** Absent in states of earlier versions, and where nothing was reported. */
  readonly toldFigure?: number;
  readonly isStale?: boolean;
}[];

/**
 * Values by key in a sliding window of event time, cut into slots that are aligned to the epoch, so that two of them can
 * be merged. Each key has its own watermark: the window ends with the newest slot that the key has, and what is older
 * than the window is late, and counted as that. History that is loaded beside live traffic so spoils neither.
 */
export class Windows<V> {
  readonly #terms: WindowTerms<V>;
  readonly #index: WindowIndex<V>;
  readonly #maxWeight: number;
  /** The ends of the order in which they were touched. */
  #oldest: Window<V> | undefined;
  #newest: Window<V> | undefined;
  #size = 0;
  #changed: Window<V>[] = [];
  /** Keys that were reported and added to since, those that wait longest first. */
  readonly #stale = new Set<Window<V>>();
  /** Keys that were too early to judge with what came last. */
  readonly #deferred = new Set<Window<V>>();
  /** How often it was asked what changed. */
  #round = 0;
  #weight = 0;
  #late = 0;
  #forgotten = 0;

  constructor(terms: WindowTerms<V>) {
    this.#terms = terms;
    this.#index = terms.index ?? new ByKey();
    this.#maxWeight = terms.maxWeight ?? Number.POSITIVE_INFINITY;
  }

  get left(): Left {
    return {
      late: this.#late,
      forgotten: this.#forgotten,
      stale: this.#stale.size + this.#deferred.size,
    };
  }

  get size(): number {
    return this.#size;
  }

  /** The value of the slot that a time is in, to be added to; undefined for what is late. */
  at(key: string, time: number): V | undefined {
    let window = this.#index.get(key);
    if (window === undefined) {
      window = this.#begin(time);
      this.#index.add(key, window);
    }
    return this.in(window, time);
  }

  /** As `at`, of a key whose parts are known, in the index of these windows or one that it is made of. */
  of<A, B>(index: PartIndex<V, A, B>, first: A, second: B, time: number): V | undefined {
    let window = index.of(first, second);
    if (window === undefined) {
      window = this.#begin(time);
      index.put(first, second, window);
    }
    return this.in(window, time);
  }

  /** As `at`, of a window that is kept: it costs a fifth, as no key is built and looked up. */
  in(window: Window<V>, time: number): V | undefined {
    const { slotMs, slots, create } = this.#terms;
    if (this.#round - window.round >= roundsOfOrder) this.#touch(window);
    const slot = Math.floor(time / slotMs);
    if (slot === window.newestSlot && window.value !== undefined) {
      if (!window.isChanged) this.#change(window);
      return window.value;
    }
    const start = slot * slotMs;
    if (start > window.newest) this.#advance(window, start, slot);
    else if (start <= window.newest - slots * slotMs) {
      this.#late++;
      return undefined;
    }
    if (!window.isChanged) this.#change(window);
    let value = valueAt(window, start);
    if (value === undefined) {
      value = create();
      // A list that was made with its slot takes 24 bytes, one that it is pushed onto 150.
      if (window.slots.length === 0) window.slots = [{ start, value }];
      else window.slots.push({ start, value });
    }
    if (start === window.newest) window.value = value;
    return value;
  }

  peek(key: string): Window<V> | undefined {
    return this.#index.get(key);
  }

  /** All keys, those touched longest ago first. */
  *all(): Generator<Window<V>, void> {
    for (let window = this.#oldest; window !== undefined; window = window.newer) yield window;
  }

  /**
   * The keys whose values were added to since it was asked last.
   *
   * @param refreshes - whether reports are refreshed: then keys that wait for it are among them, a limited number
   */
  changed(refreshes = false): readonly Window<V>[] {
    this.#round++;
    const changed = this.#changed;
    if (changed.length === 0 && !(refreshes && this.#waits)) return changed;
    this.#changed = [];
    let kept = 0;
    for (const window of changed) {
      if (!window.isChanged) continue;
      window.isChanged = false;
      window.isRefreshing = false;
      if (window.toldRank >= 0) this.#stale.add(window);
      if (this.#maxWeight !== Number.POSITIVE_INFINITY) this.#weigh(window);
      changed[kept++] = window;
    }
    changed.length = kept;
    while (this.#weight > this.#maxWeight && this.#size > 1) this.#forgetOldest();
    if (refreshes) {
      const listed = new Set(changed);
      for (const waiting of [this.#stale, this.#deferred]) addWaiting(changed, listed, waiting);
    }
    return changed;
  }

  /** Has a key judged with the next refresh, as it is too early to do so with what came last. */
  defer(window: Window<V>): void {
    this.#deferred.add(window);
  }

  get #waits(): boolean {
    return this.#stale.size + this.#deferred.size > 0;
  }

  #waitsFor(window: Window<V>): boolean {
    return this.#stale.has(window) || this.#deferred.has(window);
  }

  /** What the window of a key has, in one value. */
  total(window: Window<V>): V {
    const { create, merge } = this.#terms;
    const total = create();
    for (const { value } of inOrder(window)) merge(total, value);
    return total;
  }

  state(): WindowsState<V> {
    return Array.from(this.all(), (window) => ({
      key: window.key,
      slots: inOrder(window).map(({ start, value }) => [start, value] as const),
      toldAt: window.toldAt,
      toldRank: window.toldRank,
      ...(window.toldRank < 0
        ? this.#waitsFor(window) && { isStale: true }
        : { toldFigure: window.toldFigure, isStale: this.#waitsFor(window) || window.isChanged }),
    }));
  }

  restore(state: WindowsState<V>): void {
    this.#index.clear();
    this.#oldest = undefined;
    this.#newest = undefined;
    this.#size = 0;
    this.#changed = [];
    this.#weight = 0;
    this.merge(state);
    this.changed();
    this.#stale.clear();
    this.#deferred.clear();
    for (const { key, isStale } of state) {
      const window = isStale === true ? this.#index.get(key) : undefined;
      if (window !== undefined) this.#stale.add(window);
    }
  }

  merge(state: WindowsState<V>): void {
    for (const { key, slots, toldAt, toldRank, toldFigure = 0 } of state) {
      for (const [start, from] of slots) {
        const into = this.at(key, start);
        if (into !== undefined) this.#terms.merge(into, from);
      }
      const window = this.#index.get(key);
      if (window === undefined || toldAt < window.toldAt) continue;
      window.toldRank = toldAt > window.toldAt ? toldRank : Math.max(toldRank, window.toldRank);
      window.toldAt = toldAt;
      window.toldFigure = Math.max(window.toldFigure, toldFigure);
    }
  }

  #begin(time: number): Window<V> {
    const { slotMs, maxKeys } = this.#terms;
    if (this.#size >= maxKeys) this.#forgetOldest();
    const slot = Math.floor(time / slotMs);
    const window = new Window<V>(slot * slotMs, slot, this.#round);
    this.#append(window);
    return window;
  }

  #advance(window: Window<V>, newest: number, newestSlot: number): void {
    const { slotMs, slots } = this.#terms;
    window.newest = newest;
    window.newestSlot = newestSlot;
    window.value = undefined;
    const oldest = newest - (slots - 1) * slotMs;
    if (window.slots.some(({ start }) => start < oldest))
      window.slots = window.slots.filter(({ start }) => start >= oldest);
  }

  #change(window: Window<V>): void {
    window.isChanged = true;
    this.#changed.push(window);
  }

  #touch(window: Window<V>): void {
    window.round = this.#round;
    if (window === this.#newest) return;
    this.#unlink(window);
    this.#append(window);
  }

  #append(window: Window<V>): void {
    window.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = window;
    else this.#newest.newer = window;
    this.#newest = window;
    this.#size++;
  }

  #unlink(window: Window<V>): void {
    const { older, newer } = window;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    window.older = undefined;
    window.newer = undefined;
    this.#size--;
  }

  #weigh(window: Window<V>): void {
    const { weigh } = this.#terms;
    let weight = 0;
    for (const { value } of window.slots) weight += weigh?.(value) ?? 1;
    this.#weight += weight - window.weight;
    window.weight = weight;
  }

  #forgetOldest(): void {
    const window = this.#oldest;
    if (window === undefined) return;
    this.#unlink(window);
    this.#index.remove(window);
    this.#stale.delete(window);
    this.#deferred.delete(window);
    window.isChanged = false;
    window.isForgotten = true;
    this.#weight -= window.weight;
    const { slotMs, slots } = this.#terms;
    // A key whose window has passed would not have counted any more.
    if (this.#newest === undefined || window.newest > this.#newest.newest - slots * slotMs) this.#forgotten++;
    this.#terms.forgot?.(window);
  }
}

/** Of the slot that begins then. */
export function valueAt<V>({ slots }: Pick<Window<V>, 'slots'>, start: number): V | undefined {
  for (const slot of slots) if (slot.start === start) return slot.value;
  return undefined;
}

/** The slots, the oldest first. */
export function inOrder<V>({ slots }: Pick<Window<V>, 'slots'>): readonly Slot<V>[] {
  return slots.length < 2 ? slots : [...slots].sort((a, b) => a.start - b.start);
}

/** Moves some of those that wait to the keys that are judged. */
function addWaiting<V>(changed: Window<V>[], listed: ReadonlySet<Window<V>>, waiting: Set<Window<V>>): void {
  let left = limits.refreshedKeys;
  for (const window of waiting) {
    if (left-- === 0) return;
    waiting.delete(window);
    if (!listed.has(window) && !window.isRefreshing) changed.push(window);
    window.isRefreshing = true;
  }
}

/** The latest report about a key, and whether it is to be refreshed. */
type Told = Pick<Window<unknown>, 'toldAt' | 'toldRank' | 'toldFigure' | 'isRefreshing'>;

/**
 * Why a key is reported that is as severe as this: for the first time or after a pause, because it became more severe, or
 * because its report is to be refreshed. Undefined where it is not to be reported. Notes that it was.
 *
 * @param figure - the largest that is reported stands: an alert about 900 ports never comes to say 30
 */
export function dueOf(told: Told, rank: number, time: number, againMs: number, figure = 0): Due | undefined {
  const isNew = told.toldRank < 0 || time >= told.toldAt + againMs;
  const due = isNew ? 'new' : rank > told.toldRank ? 'graver' : refreshOf(told, figure);
  if (due === undefined) return undefined;
  if (isNew || due === 'graver') {
    told.toldAt = Math.max(told.toldAt, time);
    told.toldRank = rank;
  }
  told.toldFigure = isNew ? figure : Math.max(told.toldFigure, figure);
  return due;
}

function refreshOf({ isRefreshing, toldFigure }: Told, figure: number): Due | undefined {
  if (!isRefreshing) return undefined;
  return figure >= toldFigure ? 'grown' : 'ongoing';
}

/** Drop counts of several windows of one detector. */
export function leftOf(...windows: readonly { readonly left: Left }[]): Left {
  const sum = (name: keyof Left) => windows.reduce((all, { left }) => all + left[name], 0);
  return { late: sum('late'), forgotten: sum('forgotten'), stale: sum('stale') };
}
