import type { Value } from './correlation-input.ts';
import type { Found, GroupWindow } from './group-window.ts';
import type { Counted } from './measure.ts';
import type { Plan } from './plan.ts';
import { addSample, type Sample } from './samples.ts';

/** One input of a group, understood. */
export interface GroupInput {
  readonly time: number;
  /** Place of its rule in the correlation's list. */
  readonly rule: number;
  readonly counted: Counted;
  readonly event: string | undefined;
  readonly ends: unknown;
  readonly carried: readonly Value[];
}

/**
 * A group that has met its condition. It lasts for a timespan; what meets the condition later than that is a new one,
 * which has nothing in common with what made this one begin.
 */
export interface Episode {
  /** End of the window that met the condition. */
  readonly at: number;
  /** Time of the first input in that window. */
  readonly first: number;
  /** Inputs in that window and since. */
  count: number;
  /** So many make it worth telling again. */
  next: number;
}

/** What an input did. */
export interface Met {
  /** `begins` and `grows` are to be told: the episode is new, or has twice as many inputs as when it was last told. */
  readonly how: 'begins' | 'grows' | 'holds';
  /** End of the window that meets the condition. */
  readonly end: number;
  /** What that window has; for `grows` with the inputs of the whole episode. Missing where nothing is to be told. */
  readonly found: Found | undefined;
}

/** Inputs with the same values in the fields to group by. Its owner is the correlation's `Groups`. */
export class Group {
  readonly values: readonly Value[];
  readonly window: GroupWindow;
  /** Newest input of each rule. */
  readonly seen: number[];
  readonly samples: Sample[];
  /** Of the newest input. */
  ends: unknown;
  carried: readonly Value[];
  episode: Episode | undefined;
  /** Time of the correlation when the group was last touched. */
  touched = -Infinity;
  /** What its owner counts it as. */
  units = 0;
  /** Its neighbours in the order of touching. */
  older: Group | undefined = undefined;
  newer: Group | undefined = undefined;

  constructor(
    values: readonly Value[],
    window: GroupWindow,
    seen: number[],
    samples: Sample[] = [],
    ends: unknown = undefined,
    carried: readonly Value[] = [],
    episode?: Episode,
  ) {
    this.values = values;
    this.window = window;
    this.seen = seen;
    this.samples = samples;
    this.ends = ends;
    this.carried = carried;
    this.episode = episode;
  }

  /** What the input does; `late` where it is more than a timespan older than the newest, and doesn't count. */
  take(input: GroupInput, plan: Plan): Met | 'late' | undefined {
    const { time, counted } = input;
    if (time < this.window.newest - plan.spanMs) return 'late';
    this.#note(input, plan);

    const until = this.episode === undefined ? -Infinity : this.episode.at + plan.spanMs;
    if (this.episode !== undefined && time <= until) this.episode.count++;
    const full = this.episode !== undefined && this.episode.count >= this.episode.next;
    const asks = plan.watched || full || Math.max(time, this.window.newest) > until;
    const end = this.window.take(time, counted, asks);
    if (end === undefined) return;
    if (end > until) return this.#begin(end, counted);
    return full ? this.#grow(end, counted) : { how: 'holds', end, found: undefined };
  }

  #note({ time, rule, event, ends, carried }: GroupInput, plan: Plan): void {
    this.seen[rule] = Math.max(this.seen[rule]!, time);
    if (time >= this.window.newest) {
      this.ends = ends;
      this.carried = carried;
    }
    if (event !== undefined) addSample(this.samples, { time, rule, event }, plan.samples);
  }

  #begin(end: number, counted: Counted): Met {
    const found = this.window.describe(end, counted);
    this.episode = { at: end, first: found.first, count: found.count, next: 2 * found.count };
    return { how: 'begins', end, found };
  }

  #grow(end: number, counted: Counted): Met {
    const episode = this.episode!;
    episode.next = 2 * episode.count;
    const { value } = this.window.describe(end, counted);
    return { how: 'grows', end, found: { count: episode.count, first: episode.first, value } };
  }
}
