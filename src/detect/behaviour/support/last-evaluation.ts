import { valueAt, type Window } from './windows.ts';

/** Minimum relative change of a key's count for another evaluation. */
const grown = 0.05;
/** Event time after which a key is evaluated again regardless of its count. */
const afterMs = 10 * 60_000;

/** The last evaluation of a key, stored so that an expensive evaluation is not repeated after each event. */
export interface LastEvaluation {
  judgedCount: number;
  judgedAt: number;
}

export const neverEvaluated = (): LastEvaluation => ({ judgedCount: 0, judgedAt: Number.NEGATIVE_INFINITY });

export function mergeEvaluations(into: LastEvaluation, from: LastEvaluation): void {
  into.judgedCount = Math.max(into.judgedCount, from.judgedCount);
  into.judgedAt = Math.max(into.judgedAt, from.judgedAt);
}

/**
 * Returns true if a key is to be evaluated at this count and event time; records the evaluation in the key's newest
 * slot.
 */
export function isEvaluationDue(window: Window<LastEvaluation>, count: number, time: number): boolean {
  const value = valueAt(window, window.newest);
  if (value === undefined) return true;
  const isAlike = Math.abs(count - value.judgedCount) < grown * value.judgedCount;
  if (!window.isRefreshing && isAlike && time < value.judgedAt + afterMs) return false;
  value.judgedCount = count;
  value.judgedAt = time;
  return true;
}
