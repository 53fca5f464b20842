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
  /** `at` of those before it, for late inputs: a limited number. Absent in states of earlier versions. */
  readonly former?: readonly number[];
}

/** Former episodes that a group knows. Past it, late inputs may make one begin a second time. */
const maxFormer = 64;

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
  /** Those that all inputs share since the group was last quiet for a timespan. */
  ends: unknown;
  /** Carried values of the newest input. */
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

  /** The effect of the input; `late` where it is older than late inputs may be, and doesn't count. */
  take(input: GroupInput, plan: Plan): Met | 'late' | undefined {
    const { time, counted } = input;
    if (time < this.window.newest - plan.reachMs) return 'late';
    this.#note(input, plan);

    const until = this.episode === undefined ? -Infinity : this.episode.at + plan.spanMs;
    const since = this.episode === undefined ? -Infinity : this.episode.at - plan.spanMs;
    if (this.episode !== undefined && time >= since && time <= until) this.episode.count++;
    const full = this.episode !== undefined && this.episode.count >= this.episode.next;
    const asks = plan.watched || full || Math.max(time, this.window.newest) > until || time < since;
    const end = this.window.take(time, counted, asks);
    if (end === undefined) return;
    if (end > until) return this.#begin(end, counted);
    if (end < since) return this.#beganBefore(end, counted, plan);
    return full ? this.#grow(end, counted) : { how: 'holds', end, found: undefined };
  }

  #note({ time, rule, event, ends, carried }: GroupInput, plan: Plan): void {
    this.seen[rule] = Math.max(this.seen[rule]!, time);
    this.ends = time > this.window.newest + plan.spanMs ? ends : shared(this.ends, ends);
    if (time >= this.window.newest) this.carried = carried;
    if (event !== undefined) addSample(this.samples, { time, rule, event }, plan.samples);
  }

  #begin(end: number, counted: Counted): Met {
    const found = this.window.describe(end, counted);
    const { at, former = [] } = this.episode ?? {};
    const episode = { at: end, first: found.first, count: found.count, next: 2 * found.count };
    this.episode = at === undefined ? episode : { ...episode, former: [...former, at].slice(-maxFormer) };
    return { how: 'begins', end, found };
  }

  /** A late input met the condition before this episode: in a former one, or in one that nothing is known of yet. */
  #beganBefore(end: number, counted: Counted, { spanMs }: Plan): Met {
    const { former = [] } = this.episode!;
    if (former.some((at) => Math.abs(at - end) <= spanMs)) return { how: 'holds', end, found: undefined };
    this.episode = { ...this.episode!, former: [...former, end].sort((a, b) => a - b).slice(-maxFormer) };
    return { how: 'begins', end, found: this.window.describe(end, counted) };
  }

  #grow(end: number, counted: Counted): Met {
    const episode = this.episode!;
    episode.next = 2 * episode.count;
    const { value } = this.window.describe(end, counted);
    return { how: 'grows', end, found: { count: episode.count, first: episode.first, value } };
  }
}

/** Members that two plain objects have alike; addresses that differ are no address of the group. */
function shared(one: unknown, other: unknown): unknown {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return other;
  const entries = Object.entries(one);
  const same = entries.filter(([name, value]) => Reflect.get(other, name) === value);
  return same.length === entries.length ? one : Object.fromEntries(same);
}
