import type { Value } from './correlation-input.ts';
import { Entries } from './entries.ts';
import { type Episode, Group } from './group.ts';
import type { Counted } from './measure.ts';
import type { Plan } from './plan.ts';
import type { Sample } from './samples.ts';

/** Of this layout; another one is not read. */
export const stateVersion = 1;

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
  readonly groups: readonly GroupState[];
}

export interface GroupState {
  readonly values: readonly Value[];
  readonly times: readonly number[];
  readonly counted: readonly Counted[];
  readonly weights: readonly number[] | null;
  readonly touched: number;
  readonly seen: readonly (number | null)[];
  readonly samples: readonly Sample[];
  readonly ends: unknown;
  readonly carried: readonly Value[];
  readonly episode: Episode | null;
}

export function groupState(group: Group): GroupState {
  const { times, values, weights } = group.window.entries.columns();
  return {
    values: group.values,
    times,
    counted: values,
    weights: weights ?? null,
    touched: group.touched,
    seen: group.seen.map((time) => (time === -Infinity ? null : time)),
    samples: [...group.samples],
    ends: group.ends,
    carried: group.carried,
    episode: group.episode === undefined ? null : { ...group.episode },
  };
}

export function restoredGroup(state: GroupState, plan: Plan): Group {
  const entries = new Entries(
    [...state.times],
    [...state.counted],
    state.weights ? [...state.weights] : undefined,
  );
  const group = new Group(
    state.values,
    plan.window(entries),
    state.seen.map((time) => time ?? -Infinity),
    [...state.samples],
    state.ends,
    state.carried,
    state.episode === null ? undefined : { ...state.episode },
  );
  group.touched = state.touched;
  return group;
}
