import { senderOf, type Value } from './correlation-input.ts';
import { Entries } from './entries.ts';
import { type Episode, Group } from './group.ts';
import type { Counted } from './measure.ts';
import { noOrigin, noteOrigin, type Origin } from './origins.ts';
import type { Plan } from './plan.ts';
import type { Sample } from './samples.ts';

/** Version of this layout. Version 1 can be read as well. */
export const stateVersion = 2;

/** The state of a correlator, as plain data for msgpack or structured clone. */
export interface CorrelatorState {
  readonly version: number;
  readonly correlations: readonly CorrelationState[];
}

export interface CorrelationState {
  readonly key: string;
  /** Hash of the correlation when the state was written. */
  readonly hash: string;
  /** Latest input time; null without inputs. */
  readonly clock: number | null;
  /** Groups, least recently used first. */
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
  /** Windows that begin at or after this time are exact; null if all windows are exact. */
  readonly exactFrom: number | null;
}

/** Group in a state of version 1. */
export interface FormerGroupState extends KeptInputs {
  readonly ends: unknown;
  /**
   * The current episode: `at` is the end of the first window that met the condition, `first` is the time of the first
   * input in that window, and `count` is the number of inputs up to a timespan after `at`.
   */
  readonly episode: {
    readonly at: number;
    readonly first: number;
    readonly count: number;
    /** Values of `at` of earlier episodes. */
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

/** Restores the episodes of a version 1 group. All episodes, including a current episode, were already reported. */
function goneOn(group: Group, { episode, ends }: FormerGroupState): Group {
  const { window, plan } = group;
  const { entries, newest } = window;
  // Version 1 stored fewer inputs, so earlier windows may be incomplete.
  window.exactFrom = newest;
  for (const { event } of group.samples) noteOrigin(group.origins, group.stretchMs, newest, ends, senderOf(event));
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
