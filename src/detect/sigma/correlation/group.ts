import { senderOf, type Value } from './correlation-input.ts';
import type { GroupWindow, Listener } from './group-window.ts';
import type { Counted } from './measure.ts';
import { joined, noOrigin, noteOrigin, type Origin, type SharedOrigin } from './origins.ts';
import type { Plan } from './plan.ts';
import { addSample, type Sample } from './samples.ts';

/** One validated input of a group. */
export interface GroupInput {
  readonly time: number;
  /** Index of the rule that matched, in the correlation's list. */
  readonly rule: number;
  readonly counted: Counted;
  readonly event: string | undefined;
  readonly ends: unknown;
  readonly carried: readonly Value[];
}

/**
 * Windows that meet the condition, each of which ends at most a timespan after the previous window. Together
 * the windows are one interval of time without a gap:
 *
 * ```
 *    first              from                          to
 *      |<--- timespan --->|         |<--- timespan --->|
 *      x    x   x    x    x   x     x    x      x      x
 * ```
 *
 * The figures of an episode include all inputs in that interval, in any order of arrival. An input between two
 * episodes can join the episodes.
 */
export interface Episode extends SharedOrigin {
  /** End of the first window, which is the time of an input. */
  from: number;
  /** End of the last window, which is the time of an input. */
  to: number;
  /** Time of the first input. */
  first: number;
  /** Number of inputs. */
  count: number;
  /** The greatest compared number; the latest number if more inputs can end an episode. */
  value: number;
  /** True if some inputs were not stored, so that the number may be too low. */
  atLeast: boolean;
  /** Number of times that the beginning was reported: more than one if several episodes were joined. */
  told: number;
  /** True if the episode changed since the last report. */
  stale: boolean;
}

/** Maximum episodes per group. Above this, late inputs may cause a second report of an episode's beginning. */
const maxEpisodes = 1024;
/**
 * Number of intervals into which the accepted delay (`reachMs`) is divided. Common addresses, ports and senders of
 * inputs are stored per interval.
 */
const stretches = 64;

/** Inputs with equal values in the fields to group by. Owned by the `Groups` of the correlation. */
export class Group implements Listener {
  readonly values: readonly Value[];
  readonly plan: Plan;
  readonly window: GroupWindow;
  readonly samples: Sample[] = [];
  readonly origins: Origin[] = [];
  /** Episodes, sorted by time. */
  readonly episodes: Episode[] = [];
  /** Episodes that changed since the last report, including episodes that were dropped from `episodes`. */
  changed: Episode[] = [];
  /** Ends of windows that meet the condition, sorted. Empty unless outer correlations need them. */
  readonly holds: number[] = [];
  /** Ends of windows that were not yet reported to outer correlations. */
  newHolds: number[] = [];
  /** Carried values of the newest input. */
  carried: readonly Value[] = [];
  /** Latest input time of the correlation (`Groups.clock`) when the group last received an input. */
  touched = -Infinity;
  /** Size of the group as counted by the owner. */
  units = 0;
  /** The group that was used before this group. */
  older: Group | undefined = undefined;
  /** The group that was used after this group. */
  newer: Group | undefined = undefined;
  /** Time range of late inputs whose windows must be evaluated. */
  #late: { from: number; to: number } | undefined;

  constructor(values: readonly Value[], plan: Plan, window: GroupWindow) {
    this.values = values;
    this.plan = plan;
    this.window = window;
  }

  /**
   * Adds an input. Inputs of one batch are sorted by time; `settle` must be called after the last input.
   *
   * @returns false if the input is too old and is not counted
   */
  take(input: GroupInput): boolean {
    const { time, counted } = input;
    const { spanMs, reachMs, monotone, keep } = this.plan;
    if (time < this.window.newest - reachMs) return false;
    if (this.#late !== undefined) {
      if (time > this.window.newest && !this.#canWait(time)) this.complete();
      else if (time > this.#late.to + spanMs) this.settle();
    }
    this.#note(input);
    const episode = this.#episodeAt(time);
    if (episode !== undefined) {
      episode.count++;
      episode.first = Math.min(episode.first, time);
      this.#change(episode);
    }
    if (this.window.take(time, counted, this)) {
      const { from, to } = this.#late ?? { from: time, to: time };
      this.#late = { from: Math.min(time, from), to: Math.max(time, to) };
      if (!monotone) this.complete(counted);
    }
    if (this.#late === undefined) this.#forget();
    if (this.window.entries.length > 2 * keep) {
      this.complete();
      if (this.window.entries.length > 2 * keep) this.trim(keep);
    }
    return true;
  }

  /**
   * Evaluates windows of late inputs that may begin or join an episode. Windows that can only raise the
   * figures wait until the next report, because evaluating 8000 inputs of a timespan takes 0.5 ms.
   */
  settle(): void {
    if (!this.#canWait(this.window.newest)) this.complete();
    else this.#change(this.episodes[this.#placeOf(this.#late!.from)]!);
  }

  #canWait(newest: number): boolean {
    const { spanMs, watched } = this.plan;
    if (this.#late === undefined || watched) return false;
    const { from, to } = this.#late;
    const at = this.#placeOf(from);
    const episode = this.episodes[at];
    if (episode === undefined || episode.told !== 1 || from < episode.from) return false;
    const isLast = at === this.episodes.length - 1;
    return to + spanMs <= episode.to || (isLast && newest <= episode.to + spanMs);
  }

  /**
   * Evaluates all windows of late inputs.
   *
   * @param subject - the latest value
   */
  complete(subject: Counted = ''): void {
    if (this.#late === undefined) return;
    const { from, to } = this.#late;
    this.#late = undefined;
    this.window.evaluate(from, to, subject, this);
    this.#forget();
  }

  /** Evaluates all windows. */
  evaluate(): void {
    this.#late = { from: -Infinity, to: this.window.newest };
    this.complete();
  }

  /** Reduces the inputs to about `keep`. */
  trim(keep: number): void {
    this.complete();
    if (this.window.entries.length > keep) this.window.trim(keep, (time) => this.#episodeAt(time) !== undefined);
  }

  /** Returns the senders of all inputs in a time range, and the addresses and ports that all these inputs share. */
  originOf(first: number, last: number, known: SharedOrigin = noOrigin): SharedOrigin {
    return this.origins
      .filter((origin) => this.#touches(origin, { first, to: last }))
      .reduce((all, one) => joined(all, one), known);
  }

  /** Length of the intervals for which origins are stored, in milliseconds. */
  get stretchMs(): number {
    return Math.max(this.plan.spanMs, this.plan.reachMs / stretches);
  }

  #touches({ since }: Origin, { first, to }: Pick<Episode, 'first' | 'to'>): boolean {
    return since <= to && since + this.stretchMs > first;
  }

  #note({ time, rule, event, ends, carried }: GroupInput): void {
    const sender = event === undefined ? undefined : senderOf(event);
    const origin = noteOrigin(this.origins, this.stretchMs, time, ends, sender);
    if (origin !== undefined)
      for (const episode of this.episodes) if (this.#touches(origin, episode)) this.#change(episode);
    if (time >= this.window.newest) this.carried = carried;
    if (event !== undefined) addSample(this.samples, { time, rule, event }, this.plan.samples);
  }

  #change(episode: Episode): void {
    if (episode.stale) return;
    episode.stale = true;
    this.changed.push(episode);
  }

  /** Returns the index of the last episode that begins at most a timespan after `end`; -1 without such an episode. */
  #placeOf(end: number): number {
    const { episodes } = this;
    let at = episodes.length - 1;
    while (at >= 0 && episodes[at]!.from > end + this.plan.spanMs) at--;
    return at;
  }

  /** Returns the episode that contains the inputs at a time. */
  #episodeAt(time: number): Episode | undefined {
    const episode = this.episodes[this.#placeOf(time)];
    return episode !== undefined && time <= episode.to ? episode : undefined;
  }

  /** Called for each window that meets the condition. */
  met(end: number, value: number): void {
    const { spanMs, monotone, watched } = this.plan;
    if (watched) this.#hold(end);
    const { entries } = this.window;
    const at = this.#placeOf(end);
    let episode = this.episodes[at];
    if (episode === undefined || end > episode.to + spanMs) {
      const from = entries.from(end - spanMs);
      const count = entries.inputs(from, entries.after(end));
      const first = entries.time(from);
      const figures = { from: end, to: end, first, count, value, atLeast: false, told: 0, stale: false };
      episode = { ...figures, ...noOrigin };
      this.episodes.splice(at + 1, 0, episode);
      this.#change(episode);
    } else if (end > episode.to) {
      episode.count += entries.inputs(entries.after(episode.to), entries.after(end));
      episode.to = end;
      this.#change(episode);
    } else if (end < episode.from) this.#beganBefore(episode, end, at);
    if (end - spanMs < this.window.exactFrom && !episode.atLeast) {
      episode.atLeast = true;
      this.#change(episode);
    }
    if (monotone ? value <= episode.value : value === episode.value) return;
    episode.value = value;
    this.#change(episode);
  }

  #beganBefore(episode: Episode, end: number, at: number): void {
    const { spanMs } = this.plan;
    const { entries } = this.window;
    const from = entries.from(end - spanMs);
    episode.count += entries.inputs(from, entries.from(episode.from - spanMs));
    episode.first = Math.min(episode.first, entries.time(from));
    episode.from = end;
    this.#change(episode);
    const before = this.episodes[at - 1];
    if (before !== undefined && end <= before.to + spanMs) this.#join(before, episode, at);
  }

  /** Joins an episode with the previous episode. */
  #join(before: Episode, episode: Episode, at: number): void {
    // `episode` now begins earlier, so its count already includes the inputs that are in both episodes.
    const { entries } = this.window;
    const both = entries.inputs(entries.from(episode.from - this.plan.spanMs), entries.after(before.to));
    episode.count += before.count - both;
    episode.from = before.from;
    episode.first = before.first;
    if (this.plan.monotone) episode.value = Math.max(episode.value, before.value);
    episode.atLeast ||= before.atLeast;
    episode.told += before.told;
    Object.assign(episode, joined(before, episode));
    this.episodes.splice(at - 1, 1);
    this.changed = this.changed.filter((one) => one !== before);
  }

  #hold(end: number): void {
    let at = this.holds.length;
    while (at > 0 && this.holds[at - 1]! > end) at--;
    if (this.holds[at - 1] === end) return;
    this.holds.splice(at, 0, end);
    this.newHolds.push(end);
  }

  /** Drops data that late inputs can no longer change. */
  #forget(): void {
    this.window.forget();
    const { spanMs, reachMs } = this.plan;
    const { episodes, origins, holds } = this;
    const since = this.window.newest - reachMs;
    while (episodes.length > maxEpisodes || (episodes.length > 0 && episodes[0]!.to < since - spanMs)) episodes.shift();
    const stretchMs = this.stretchMs;
    while (origins.length > 0 && origins[0]!.since + stretchMs < since - spanMs) {
      const origin = origins.shift()!;
      for (const episode of new Set([...episodes, ...this.changed]))
        if (this.#touches(origin, episode)) Object.assign(episode, joined(episode, origin));
    }
    if (holds.length > 0 && holds[0]! < since - spanMs) holds.splice(0, holds.findLastIndex((end) => end < since) + 1);
  }
}
