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
 * The intervals that an occurrence of [from, to] could join, nearest first; of equally near ones the newest alert first.
 * Occurrences that would bridge two alerts join the nearer: alerts that were published are never merged.
 */
export function joinable(
  intervals: readonly Interval[],
  from: number,
  to: number,
  windowMs: number,
): Interval[] {
  const distance = ({ first, last }: Interval) => Math.max(0, first - to, from - last);
  return intervals
    .filter((interval) => distance(interval) <= windowMs)
    .reverse()
    .sort((a, b) => distance(a) - distance(b));
}

/** The intervals after the alert had an occurrence of [from, to]: widened, or a new one that pushes out the oldest. */
export function withOccurrence(
  intervals: readonly Interval[],
  alertId: string,
  from: number,
  to: number,
): Interval[] {
  const known = intervals.some((interval) => interval.alert_id === alertId);
  if (!known) return [...intervals, { alert_id: alertId, first: from, last: to }].slice(-maxIntervals);
  return intervals.map((interval) =>
    interval.alert_id === alertId
      ? { alert_id: alertId, first: Math.min(interval.first, from), last: Math.max(interval.last, to) }
      : interval,
  );
}
