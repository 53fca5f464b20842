/**
 * When the alerts of one deduplication key were active, in event time: what decides whether an occurrence joins an
 * alert or begins a new one.
 *
 * ```
 *      window              window
 *   ├──────────┼──────────┼──────────┤      an occurrence within joins the alert
 *           first        last
 * ```
 */
export interface Interval {
  readonly alert_id: string;
  /** Epoch milliseconds, inclusive. */
  readonly first: number;
  readonly last: number;
}

/**
 * Recent intervals kept for one key. Sensors deliver late by minutes or replay a day; what is later than eight
 * alerts of the same key begins a new alert.
 */
const maxIntervals = 8;

/**
 * The intervals that an occurrence at `time` could join, nearest first; of equally near ones the newest alert first.
 * Occurrences that would bridge two alerts join the nearer: alerts that were published are never merged.
 */
export function joinable(intervals: readonly Interval[], time: number, windowMs: number): Interval[] {
  return intervals
    .filter((interval) => distance(interval, time) <= windowMs)
    .reverse()
    .sort((a, b) => distance(a, time) - distance(b, time));
}

/** The intervals after the alert had an occurrence at `time`: widened, or a new one that pushes out the oldest. */
export function withOccurrence(intervals: readonly Interval[], alertId: string, time: number): Interval[] {
  const known = intervals.some((interval) => interval.alert_id === alertId);
  if (!known) return [...intervals, { alert_id: alertId, first: time, last: time }].slice(-maxIntervals);
  return intervals.map((interval) =>
    interval.alert_id === alertId
      ? { alert_id: alertId, first: Math.min(interval.first, time), last: Math.max(interval.last, time) }
      : interval,
  );
}

function distance(interval: Interval, time: number): number {
  return Math.max(0, interval.first - time, time - interval.last);
}
