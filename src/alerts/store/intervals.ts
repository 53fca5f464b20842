/**
 * The time in which an alert of a deduplication key was active, in event time. Determines whether an
 * occurrence joins the alert or begins a new one.
 *
 * ```
 *       window              window
 *    ├──────────┼──────────┼──────────┤      an occurrence within joins the alert
 *            first        last
 * ```
 */
export interface Interval {
  readonly alert_id: string;
  /** Time of the first occurrence, epoch milliseconds. */
  readonly first: number;
  /** Time of the last occurrence, epoch milliseconds. */
  readonly last: number;
}

/**
 * Maximum number of recent intervals stored per key. Sensors may deliver findings minutes late, or replay a
 * day. An occurrence that is older than the eight newest alerts of the same key begins a new alert.
 */
const maxIntervals = 8;

/**
 * Returns the intervals that an occurrence of [from, to] could join, nearest first; at equal distance, the
 * newest alert is first. An occurrence between two alerts joins the nearer alert, because published alerts are
 * never merged.
 */
export function joinable(intervals: readonly Interval[], from: number, to: number, windowMs: number): Interval[] {
  const distance = ({ first, last }: Interval) => Math.max(0, first - to, from - last);
  return intervals
    .filter((interval) => distance(interval) <= windowMs)
    .reverse()
    .sort((a, b) => distance(a) - distance(b));
}

/**
 * Returns the intervals after an occurrence of [from, to]. One interval is widened, or a new interval is added. Above
 * `maxIntervals`, the earliest interval is removed.
 */
export function withOccurrence(intervals: readonly Interval[], alertId: string, from: number, to: number): Interval[] {
  const known = intervals.some((interval) => interval.alert_id === alertId);
  if (!known) return [...intervals, { alert_id: alertId, first: from, last: to }].slice(-maxIntervals);
  return intervals.map((interval) =>
    interval.alert_id === alertId
      ? { alert_id: alertId, first: Math.min(interval.first, from), last: Math.max(interval.last, to) }
      : interval,
  );
}
