import { senderOf, type Value } from './correlation-input.ts';
import { Entries } from './entries.ts';
import { type Episode, Group } from './group.ts';
import type { Counted } from './measure.ts';
import { noOrigin, noteOrigin, type Origin } from './origins.ts';
import type { Plan } from './plan.ts';
import type { Sample } from './samples.ts';

/** Version of this layout. Version 1 is read as well. */
export const stateVersion = 2;

/** What a correlator remembers, as plain data for msgpack or structured clone. */
export interface CorrelatorState {
  readonly version: number;
  readonly correlations: readonly CorrelationState[];
}

export interface CorrelationState {
  readonly key: string;
  /** Of the correlation as it was. */
  readonly hash: string;
  /** Largest time seen; null where nothing came. */
  readonly clock: number | null;
  /** Those touched last at the end. */
  readonly groups: readonly (GroupState | FormerGroupState)[];
}

interface KeptInputs {
  readonly values: readonly Value[];
  readonly times: readonly number[];
  readonly counted: readonly Counted[];
  readonly weights: readonly number[] | null;
  readonly touched: number;
  readonly samples: readonly Sample[];
  readonly carried: readonly Value[];
}

export interface GroupState extends KeptInputs {
  readonly origins: readonly Origin[];
  readonly episodes: readonly Episode[];
  readonly holds: readonly number[];
  /** Null where all windows are exact. */
  readonly exactFrom: number | null;
}

/** As version 1 has it. */
export interface FormerGroupState extends KeptInputs {
  readonly ends: unknown;
  /** The end of the window that met the condition first, the first input in it, and the inputs up to a timespan later. */
  readonly episode: {
    readonly at: number;
    readonly first: number;
    readonly count: number;
    /** `at` of those before it. */
    readonly former?: readonly number[];
  } | null;
}

export function groupState(group: Group): GroupState {
  group.complete();
  const { times, values, weights } = group.window.entries.columns();
  const { exactFrom } = group.window;
  return {
    values: group.values,
    times,
    counted: values,
    weights: weights ?? null,
    touched: group.touched,
    samples: [...group.samples],
    carried: group.carried,
    origins: group.origins.map((origin) => ({ ...origin })),
    episodes: [...new Set([...group.changed, ...group.episodes])]
      .sort((a, b) => a.from - b.from)
      .map((episode) => ({ ...episode })),
    holds: [...group.holds],
    exactFrom: exactFrom === -Infinity ? null : exactFrom,
  };
}

export function restoredGroup(state: GroupState | FormerGroupState, plan: Plan): Group {
  const { times, counted, weights, samples, carried, touched } = state;
  const entries = new Entries([...times], [...counted], weights ? [...weights] : undefined);
  const group = new Group(state.values, plan, plan.window(entries));
  group.samples.push(...samples);
  group.carried = carried;
  group.touched = touched;
  if (!('episodes' in state)) return goneOn(group, state);
  group.origins.push(...state.origins.map((origin) => ({ ...origin })));
  group.episodes.push(...state.episodes.map((episode) => ({ ...episode })));
  group.changed = group.episodes.filter(({ stale }) => stale);
  group.holds.push(...state.holds);
  group.window.exactFrom = state.exactFrom ?? -Infinity;
  return group;
}

/** The group of version 1, whose episodes were reported: what holds now is one of them. */
function goneOn(group: Group, { episode, ends }: FormerGroupState): Group {
  const { window, plan } = group;
  const { entries, newest } = window;
  // Fewer inputs were kept.
  window.exactFrom = newest;
  for (const { event } of group.samples)
    noteOrigin(group.origins, group.stretchMs, newest, ends, senderOf(event));
  if (episode === null) return group;
  for (const at of [...(episode.former ?? []), episode.at]) {
    const isLast = at === episode.at;
    const from = entries.from(at - plan.spanMs);
    const inputs = entries.inputs(from, entries.after(at));
    group.episodes.push({
      from: at,
      to: isLast ? Math.max(at, Math.min(newest, at + plan.spanMs)) : at,
      first: isLast ? episode.first : inputs === 0 ? at : entries.time(from),
      count: isLast ? episode.count : inputs,
      value: plan.least,
      atLeast: true,
      told: 1,
      stale: false,
      ...noOrigin,
    });
  }
  if (plan.monotone) group.evaluate();
  for (const one of group.episodes) Object.assign(one, { told: 1, stale: false });
  group.changed = [];
  group.newHolds = [];
  return group;
}
