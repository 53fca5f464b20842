import { valueAt, type Window } from './windows.ts';

/** By what part a count changes, and how much event time goes by at the most, before a key is judged again. */
const grown = 0.05;
const afterMs = 10 * 60_000;

/** What a value remembers of the last judgement of its key, so that a dear one is not made after each event. */
export interface Judged {
  judgedCount: number;
  judgedAt: number;
}

export const neverJudged = (): Judged => ({ judgedCount: 0, judgedAt: Number.NEGATIVE_INFINITY });

export function mergeJudged(into: Judged, from: Judged): void {
  into.judgedCount = Math.max(into.judgedCount, from.judgedCount);
  into.judgedAt = Math.max(into.judgedAt, from.judgedAt);
}

/** Whether a key is to be judged at this count and event time; notes that it was, with its newest slot. */
export function isJudgementDue(window: Window<Judged>, count: number, time: number): boolean {
  const value = valueAt(window, window.newest);
  if (value === undefined) return true;
  const isAlike = Math.abs(count - value.judgedCount) < grown * value.judgedCount;
  if (!window.isRefreshing && isAlike && time < value.judgedAt + afterMs) return false;
  value.judgedCount = count;
  value.judgedAt = time;
  return true;
}
