import { limits } from '../../../limits.ts';
import type { DropCounts, Due } from '../detector.ts';
import { nothing } from './put-at.ts';
import { ByKey, type KeyForm, type WindowIndex } from './window-index.ts';

export interface WindowOptions<V, S = V> {
  /** Width of a slot, milliseconds of event time. */
  readonly slotMs: number;
  /** Number of slots in a window. The window of a key ends with the newest slot of the key. */
  readonly slots: number;
  /**
   * Maximum keys. Above this, one of the least recently touched keys is dropped. An attacker can choose the number of
   * keys.
   */
  readonly maxKeys: number;
  /** Maximum total of `weigh`. Above this, the least recently touched keys are dropped. */
  readonly maxWeight?: number;
  /** Weight of a value, in units of the owner's choice; 1 by default. */
  readonly weigh?: (value: V) => number;
  readonly create: () => V;
  /**
   * Makes a value equal to a new one. With this function, new keys take over the windows of dropped keys. Useful for
   * large values of few keys: windows of many keys are no longer in the processor's cache when they are dropped. The
   * owner MUST NOT keep windows, because a window may belong to another key later.
   */
  readonly clear?: (value: V) => void;
  /** Returns a value as it is stored in states; the value itself by default. */
  readonly write?: (value: V) => S;
  /** Adds a stored value to a value of a slot. The result must not depend on order or grouping. */
  readonly merge: (into: V, from: S) => void;
  /** Called with the window of each key that is dropped to make room. */
  readonly forgot?: (window: Window<V>) => void;
  /** Finds keys, by default by their texts. Each index belongs to one `Windows`. */
  readonly index?: WindowIndex<V>;
}

/** A part of a window's time. */
export interface Slot<V> {
  /** Start of the slot, epoch milliseconds. */
  start: number;
  readonly value: V;
}

/** The slots and last report of one key. */
export class Window<V> {
  /** First part of the key, set by the index. The key's text is created on demand. */
  first: unknown;
  /** Second part of the key, set by the index. */
  second: unknown;
  form: KeyForm<unknown, unknown> | undefined;
  /** Hash of both parts of the key, set by the index. */
  hash = 0;
  /** Start of the newest slot, epoch milliseconds. */
  newest = 0.5;
  /**
   * Start of the newest slot as a number of slots: the JavaScript engine stores an integer inline, and a float by
   * reference.
   */
  newestSlot = 0;
  /**
   * Slots in the order of their creation. Most keys have one slot, and a list takes half the memory of a map.
   */
  slots: Slot<V>[] = nothing;
  /** Event time of the latest report except refreshes; `-Infinity` if nothing was reported. */
  toldAt = Number.NEGATIVE_INFINITY;
  /** Severity rank of the latest report except refreshes; -1 if nothing was reported. */
  toldRank = -1;
  /** The largest figure since the latest report that was not a refresh. */
  toldFigure = 0;
  /** True if the report is to be refreshed with this evaluation. */
  isRefreshing = false;
  /** The most recently determined weight. */
  weight = 0;
  /** Value of the newest slot, which is used most. */
  value: V | undefined;
  /** Index in the list of changed windows; negative if no events were added since the last call of `changed`. */
  changedAt = -1;
  /** True after the key was dropped to make room: a holder of the window must look the key up again. */
  isForgotten = false;
  /** The value of `#round` when the window was last moved to the recent end of the list. */
  round = 0;
  /** The previous window in the order of the last touch. */
  older: Window<V> | undefined;
  /** The next window in the order of the last touch. */
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

/** A window as it was before it moved. */
interface EarlierWindow<V> {
  readonly newest: number;
  readonly slots: Slot<V>[];
  /** True if some of its events were not reported. */
  readonly isUnreported: boolean;
}

type MovedWindows<V> = Map<Window<V>, EarlierWindow<V>[]>;

interface PartIndex<V, A, B> {
  of(first: A, second: B, firstKey?: number, secondKey?: number): Window<V> | undefined;
  put(first: A, second: B, window: Window<V>, firstKey?: number, secondKey?: number): void;
}

/**
 * Minimum number of calls of `changed` between two moves of a window to the recent end of the list: a move costs more
 * than adding an event.
 */
const roundsOfOrder = 4;

/** State of the windows for structured clone. Least recently touched keys come first. */
export type WindowsState<V> = readonly {
  readonly key: string;
  readonly slots: readonly (readonly [start: number, value: V])[];
  readonly toldAt: number;
  readonly toldRank: number;
  /** Absent in states of earlier versions, and if nothing was reported. */
  readonly toldFigure?: number;
  readonly isStale?: boolean;
}[];

/**
 * Stores values by key in a sliding window of event time, divided into slots that are aligned to the epoch, so that two
 * `Windows` can be merged. Each key has its own watermark: its window ends with its newest slot, and older events are
 * counted as late. Therefore, loading historical data does not disturb the evaluation of live traffic.
 */
export class Windows<V, S = V> {
  readonly #options: WindowOptions<V, S>;
  readonly #index: WindowIndex<V>;
  readonly #maxWeight: number;
  /** Least recently touched window. */
  #oldest: Window<V> | undefined;
  /** Most recently touched window. */
  #newest: Window<V> | undefined;
  #size = 0;
  /** Windows with new events. The entries of dropped keys are undefined. */
  #changed: (Window<V> | undefined)[] = [];
  /** Copies of windows from before they dropped slots, since the last call of `changed`, earliest first. */
  #moved: MovedWindows<V> = new Map();
  #moves = 0;
  /** The value of `#moved` at the last call of `changed`. */
  #movedBefore: MovedWindows<V> = new Map();
  /** Keys with events since their last report; the longest waiting key is first. */
  readonly #stale = new Set<Window<V>>();
  /** Keys whose evaluation was postponed. */
  readonly #deferred = new Set<Window<V>>();
  /** Number of calls of `changed`. */
  #round = 0;
  #weight = 0;
  #late = 0;
  #forgotten = 0;

  constructor(options: WindowOptions<V, S>) {
    this.#options = options;
    this.#index = options.index ?? new ByKey();
    this.#maxWeight = options.maxWeight ?? Number.POSITIVE_INFINITY;
  }

  get dropped(): DropCounts {
    return {
      late: this.#late,
      forgotten: this.#forgotten,
      stale: this.#stale.size + this.#deferred.size,
    };
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Returns the value of the slot that contains a time, so that the caller can add to it; undefined for late
   * events.
   */
  at(key: string, time: number): V | undefined {
    let window = this.#index.get(key);
    if (window === undefined) {
      window = this.#begin(time);
      this.#index.add(key, window);
    }
    return this.in(window, time);
  }

  /**
   * Like `at`, for callers that know the parts of the key, and perhaps their hashes. `index` is the index of these
   * windows, or a part of that index.
   */
  of<A, B>(
    index: PartIndex<V, A, B>,
    first: A,
    second: B,
    time: number,
    firstKey?: number,
    secondKey?: number,
  ): V | undefined {
    let window = index.of(first, second, firstKey, secondKey);
    if (window === undefined) {
      window = this.#begin(time);
      index.put(first, second, window, firstKey, secondKey);
    }
    return this.in(window, time);
  }

  /**
   * Like `at`, for a window that the caller holds. Takes a fifth of the time, as no key is built and looked
   * up.
   */
  in(window: Window<V>, time: number): V | undefined {
    const { slotMs, slots, create } = this.#options;
    if (this.#round - window.round >= roundsOfOrder) this.#touch(window);
    const slot = Math.floor(time / slotMs);
    if (slot === window.newestSlot && window.value !== undefined) {
      if (window.changedAt < 0) this.#change(window);
      return window.value;
    }
    const start = slot * slotMs;
    if (start > window.newest) this.#advance(window, start, slot);
    else if (start <= window.newest - slots * slotMs) {
      this.#late++;
      return undefined;
    }
    if (window.changedAt < 0) this.#change(window);
    let value = valueAt(window, start);
    if (value === undefined) {
      value = create();
      // A list created with its slot takes 24 bytes; a list onto which a slot is pushed takes 150 bytes.
      if (window.slots.length === 0) window.slots = [{ start, value }];
      else window.slots.push({ start, value });
    }
    if (start === window.newest) window.value = value;
    return value;
  }

  peek(key: string): Window<V> | undefined {
    return this.#index.get(key);
  }

  /** Iterates over all keys, least recently touched first. */
  *all(): Generator<Window<V>, void> {
    for (let window = this.#oldest; window !== undefined; window = window.newer) yield window;
  }

  /**
   * Returns the keys to which events were added since the last call. A key whose window moved is returned once for each
   * unreported earlier window, and then with its current window, so that late evaluation loses no figures. Drops keys
   * while the total weight is too high.
   *
   * @param refreshes - true to include a limited number of keys that wait for a refresh
   */
  changed(refreshes = false): Iterable<Window<V>> {
    this.#round++;
    if (this.#moved.size + this.#movedBefore.size > 0) {
      this.#movedBefore = this.#moved;
      this.#moved = new Map();
      this.#moves = 0;
    }
    const changed: Window<V>[] = [];
    if (this.#changed.length === 0 && !(refreshes && this.#waits)) return changed;
    for (const window of this.#changed) {
      if (window === undefined) continue;
      window.changedAt = -1;
      window.isRefreshing = false;
      if (window.toldRank >= 0) this.#stale.add(window);
      if (this.#maxWeight !== Number.POSITIVE_INFINITY) this.#weigh(window);
      changed.push(window);
    }
    this.#changed = [];
    while (this.#weight > this.#maxWeight && this.#size > 1) this.#forgetOldest();
    if (refreshes) {
      const listed = new Set(changed);
      for (const waiting of [this.#stale, this.#deferred]) addWaiting(changed, listed, waiting);
    }
    return this.#movedBefore.size === 0 ? changed : this.#withMoved(changed);
  }

  /** Yields the unreported windows as they were before they moved, and then the changed windows. */
  *#withMoved(changed: readonly Window<V>[]): Generator<Window<V>, void> {
    for (const [window, earlier] of this.#movedBefore) {
      if (window.isForgotten) continue;
      const now = { newest: window.newest, slots: window.slots, isRefreshing: window.isRefreshing };
      try {
        for (const { newest, slots, isUnreported } of earlier)
          if (isUnreported) yield Object.assign(window, { newest, slots, isRefreshing: true });
      } finally {
        Object.assign(window, now);
      }
      // The first report of the key may be about the earlier window only.
      if (window.toldRank >= 0) this.#stale.add(window);
    }
    yield* changed;
  }

  /**
   * Returns the slots of a window as it was when it reached a slot, including the slots that it left out between the
   * last two calls of `changed`.
   *
   * @param newest - start of the last slot, epoch milliseconds
   */
  slotsTo(window: Window<V>, newest: number): readonly Slot<V>[] {
    if (window.newest <= newest) return window.slots;
    const earlier = this.#movedBefore.get(window) ?? [];
    const later = earlier.findIndex((one) => one.newest > newest);
    // Together, the last window up to the slot and the next window have all slots.
    const before = earlier.at(later < 0 ? -1 : later - 1);
    const known = later === 0 || before === undefined ? [] : before.slots;
    const next = later < 0 ? window.slots : earlier[later]!.slots;
    const slots = [...new Set([...known, ...next])].filter(({ start }) => start <= newest);
    const last = Math.max(...slots.map(({ start }) => start));
    return slots.filter(({ start }) => start > last - this.#options.slots * this.#options.slotMs);
  }

  /** Postpones the evaluation of a key to the next refresh. */
  defer(window: Window<V>): void {
    this.#deferred.add(window);
  }

  get #waits(): boolean {
    return this.#stale.size + this.#deferred.size > 0;
  }

  #waitsFor(window: Window<V>): boolean {
    return this.#stale.has(window) || this.#deferred.has(window);
  }

  /** Merges all slots of a key into one value, which must not be changed: it may be the value of the only slot. */
  total(window: { readonly slots: readonly Slot<V>[] }): Readonly<V> {
    const { create, merge } = this.#options;
    const [only] = window.slots;
    if (only !== undefined && window.slots.length === 1) return only.value;
    const total = create();
    for (const { value } of inOrder(window)) merge(total, this.#written(value));
    return total;
  }

  state(): WindowsState<S> {
    return Array.from(this.all(), (window) => ({
      key: window.key,
      slots: inOrder(window).map(({ start, value }) => [start, this.#written(value)] as const),
      toldAt: window.toldAt,
      toldRank: window.toldRank,
      ...(window.toldRank < 0
        ? this.#waitsFor(window) && { isStale: true }
        : { toldFigure: window.toldFigure, isStale: this.#waitsFor(window) || window.changedAt >= 0 }),
    }));
  }

  restore(state: WindowsState<S>): void {
    this.#index.clear();
    this.#oldest = undefined;
    this.#newest = undefined;
    this.#size = 0;
    this.#changed = [];
    this.#moved.clear();
    this.#moves = 0;
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

  merge(state: WindowsState<S>): void {
    for (const { key, slots, toldAt, toldRank, toldFigure = 0 } of state) {
      for (const [start, from] of slots) {
        const into = this.at(key, start);
        if (into !== undefined) this.#options.merge(into, from);
      }
      const window = this.#index.get(key);
      if (window === undefined || toldAt < window.toldAt) continue;
      const isLater = toldAt > window.toldAt;
      window.toldRank = isLater ? toldRank : Math.max(toldRank, window.toldRank);
      window.toldFigure = isLater ? toldFigure : Math.max(toldFigure, window.toldFigure);
      window.toldAt = toldAt;
    }
  }

  #written(value: V): S {
    const { write } = this.#options;
    return write === undefined ? (value as unknown as S) : write(value);
  }

  #begin(time: number): Window<V> {
    const { slotMs, maxKeys } = this.#options;
    const dropped = this.#size >= maxKeys ? this.#forgetOldest() : undefined;
    const slot = Math.floor(time / slotMs);
    const window = dropped ?? new Window<V>(slot * slotMs, slot, this.#round);
    if (dropped !== undefined) this.#reuse(dropped, slot);
    this.#append(window);
    return window;
  }

  /** Resets a window that has one slot, so that it equals a new window. */
  #reuse(window: Window<V>, newestSlot: number): void {
    window.newest = newestSlot * this.#options.slotMs;
    window.newestSlot = newestSlot;
    window.toldAt = Number.NEGATIVE_INFINITY;
    window.toldRank = -1;
    window.toldFigure = 0;
    window.isRefreshing = false;
    window.isForgotten = false;
    window.weight = 0;
    window.round = this.#round;
    const slot = window.slots[0]!;
    slot.start = window.newest;
    this.#options.clear!(slot.value);
    window.value = slot.value;
  }

  #advance(window: Window<V>, newest: number, newestSlot: number): void {
    const { slotMs, slots } = this.#options;
    const oldest = newest - (slots - 1) * slotMs;
    if (window.slots.some(({ start }) => start < oldest)) {
      if (this.#moves < limits.movedWindows) this.#move(window);
      window.slots = window.slots.filter(({ start }) => start >= oldest);
    }
    window.newest = newest;
    window.newestSlot = newestSlot;
    window.value = undefined;
  }

  /** Records a window before it moves. */
  #move(window: Window<V>): void {
    this.#moves++;
    const isUnreported = window.changedAt >= 0 || this.#waitsFor(window);
    const earlier = { newest: window.newest, slots: window.slots, isUnreported };
    const moved = this.#moved.get(window);
    if (moved === undefined) this.#moved.set(window, [earlier]);
    else moved.push(earlier);
  }

  #change(window: Window<V>): void {
    window.changedAt = this.#changed.length;
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
    const { weigh } = this.#options;
    let weight = 0;
    for (const { value } of window.slots) weight += weigh?.(value) ?? 1;
    this.#weight += weight - window.weight;
    window.weight = weight;
  }

  /** Drops the least recently touched key. Returns its window if another key can use the window. */
  #forgetOldest(): Window<V> | undefined {
    const window = this.#oldest;
    if (window === undefined) return undefined;
    this.#unlink(window);
    this.#index.remove(window);
    this.#stale.delete(window);
    this.#deferred.delete(window);
    if (window.changedAt >= 0) this.#changed[window.changedAt] = undefined;
    window.changedAt = -1;
    window.isForgotten = true;
    this.#weight -= window.weight;
    const { slotMs, slots } = this.#options;
    // Dropping a key whose window has passed has no effect on detection.
    if (this.#newest === undefined || window.newest > this.#newest.newest - slots * slotMs) this.#forgotten++;
    this.#options.forgot?.(window);
    if (this.#options.clear === undefined || window.slots.length !== 1) return undefined;
    return this.#moved.has(window) || this.#movedBefore.has(window) ? undefined : window;
  }
}

/** Returns the value of the slot that begins at `start`. */
export function valueAt<V>({ slots }: Pick<Window<V>, 'slots'>, start: number): V | undefined {
  for (const slot of slots) if (slot.start === start) return slot.value;
  return undefined;
}

/** Returns the slots, oldest first. */
export function inOrder<V>({ slots }: { readonly slots: readonly Slot<V>[] }): readonly Slot<V>[] {
  return slots.length < 2 ? slots : [...slots].sort((a, b) => a.start - b.start);
}

/** Adds some of the waiting keys to the evaluated keys. */
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
 * Returns the reason for reporting a key of this severity, and records the report. Reasons are: the first report,
 * `againMs` passed since the last report that was not a refresh, an increased severity, and a refresh. Returns
 * undefined if the key is not to be reported.
 *
 * @param figure - figure of this evaluation. The largest figure since the last report that was not a refresh is stored,
 * so that a refresh never changes an alert from 900 ports to 30 ports
 */
export function dueOf(told: Told, rank: number, time: number, againMs: number, figure = 0): Due | undefined {
  const isNew = told.toldRank < 0 || time >= told.toldAt + againMs;
  const due = isNew ? 'new' : rank > told.toldRank ? 'graver' : refreshOf(told, figure);
  if (due === undefined) return undefined;
  if (due === 'new' || due === 'graver') {
    told.toldAt = Math.max(told.toldAt, time);
    told.toldRank = rank;
    told.toldFigure = figure;
  } else told.toldFigure = Math.max(told.toldFigure, figure);
  return due;
}

function refreshOf({ isRefreshing, toldFigure }: Told, figure: number): Due | undefined {
  if (!isRefreshing) return undefined;
  return figure >= toldFigure ? 'grown' : 'ongoing';
}
