/**
 * When the alerts of one deduplication key were active, in event time: decides whether an occurrence joins an
 * alert or begins a new one.
 *
 * ```
 *       window              window
 *    ├──────────┼──────────┼──────────┤      an occurrence within joins the alert
 *            first        last
 * ```
 */
export interface Interval {
  readonly alert_id: string;
  /** Epoch milliseconds, inclusive. */
  readonly first: number;
  readonly last: number;
}

/**
 * Maximum number of recent intervals stored per key. Sensors deliver minutes late or replay a day; an
 * occurrence older than eight alerts of the same key begins a new alert.
 */
const maxIntervals = 8;

/**
 * Returns the intervals that an occurrence of [from, to] could join, nearest first; of equally near ones the
 * newest alert first. An occurrence between two alerts joins the nearer one: published alerts are never
 * merged.
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

/**
 * Returns the intervals after an occurrence of [from, to]: a widened one, or a new one that displaces the
 * oldest.
 */
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
