import type { Histogram } from '../../contract/resources/histogram.ts';
import { severities } from '../../contract/vocabulary.ts';
import { maxTime } from '../format/columns.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps = (unit: number, ...counts: readonly number[]) => counts.map((count) => count * unit);

/** Widths of buckets, milliseconds. The widest covers all event times. */
export const bucketWidths: readonly number[] = [
  ...steps(second, 1, 2, 5, 10, 15, 30),
  ...steps(minute, 1, 2, 5, 10, 15, 30),
  ...steps(hour, 1, 2, 3, 6, 12),
  ...steps(day, 1, 2, 7, 14, 28, 91, 364),
  ...steps(3640 * day, 1, 10, 100, 1000),
];

/** Monday, 1970-01-05. Weeks begin on Mondays. */
const firstMonday = 4 * day;
/** Returns the start of the bucket that contains the epoch. Buckets of whole weeks, up to a year, begin on a Monday. */
const startOf = (widthMs: number): number => (widthMs >= 7 * day && widthMs <= 364 * day ? firstMonday - widthMs : 0);

/** Returns the index of a time among all buckets of a width. */
const placeOf = (time: number, widthMs: number): number => Math.floor((time - startOf(widthMs)) / widthMs);

/** Returns the smallest width for which [from, to) needs at most `most` buckets. */
const bucketWidth = (from: number, to: number, most: number): number =>
  bucketWidths.find((widthMs) => placeOf(to - 1, widthMs) - placeOf(from, widthMs) < most) ?? bucketWidths.at(-1)!;

/** Half-open range of time, epoch milliseconds. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the requested time range. A missing start is replaced by the first stored time, and a missing end by the
 * time just after the last stored time.
 *
 * @param stored - range of stored times within the requested bound; undefined if nothing is stored there
 * @param now - start and end of the empty result if neither bound is given
 */
export function spanOf(
  { from, to }: Partial<TimeSpan>,
  stored: { readonly first: number; readonly last: number } | undefined,
  now: number,
): TimeSpan {
  if (stored === undefined) return { from: from ?? to ?? now, to: to ?? from ?? now };
  return { from: from ?? stored.first, to: to ?? stored.last + 1 };
}

/**
 * Counts by time and severity within [from, to), epoch milliseconds, limited to possible event times (the
 * years 1970–9999). An empty range has no buckets.
 */
export class TimeBuckets {
  readonly from: number;
  readonly to: number;
  readonly widthMs: number;
  /** Start of the first bucket. */
  readonly start: number;
  readonly length: number;
  /** A count for each bucket and severity. */
  readonly #counts: Float64Array;

  /** @param most - maximum number of buckets, at least one */
  constructor(asked: TimeSpan, most: number) {
    const from = Math.min(Math.max(asked.from, 0), maxTime);
    const to = Math.max(from, Math.min(asked.to, maxTime + 1));
    this.from = from;
    this.to = to;
    const widthMs = from < to ? bucketWidth(from, to, most) : bucketWidths[0]!;
    this.widthMs = widthMs;
    this.start = startOf(widthMs) + widthMs * placeOf(from, widthMs);
    this.length = from < to ? placeOf(to - 1, widthMs) - placeOf(from, widthMs) + 1 : 0;
    this.#counts = new Float64Array(severities.length * this.length);
  }

  /** Returns the bucket of a time within [from, to). */
  at(time: number): number {
    return Math.floor((time - this.start) / this.widthMs);
  }

  /**
   * Returns the bucket that covers both times and all times between them; undefined if they are in
   * several buckets or outside [from, to).
   */
  only(least: number, most: number): number | undefined {
    if (!(least >= this.from && most < this.to)) return undefined;
    const bucket = this.at(least);
    return bucket === this.at(most) ? bucket : undefined;
  }

  /** @param severity - rank of the severity */
  add(bucket: number, severity: number, count = 1): void {
    this.#counts[severities.length * bucket + severity]! += count;
  }

  histogram(of: Histogram['of']): Histogram {
    const buckets = Array.from({ length: this.length }, (_, bucket) => this.#bucket(bucket));
    return {
      of,
      from: new Date(this.from).toISOString(),
      // From the year 10000, toISOString returns an expanded year (+010000-…), which the API does not use.
      to: new Date(Math.min(this.to, maxTime)).toISOString(),
      bucket_ms: this.widthMs,
      total: buckets.reduce((sum, { count }) => sum + count, 0),
      buckets,
    };
  }

  #bucket(bucket: number): Histogram['buckets'][number] {
    const first = severities.length * bucket;
    const counts = this.#counts.subarray(first, first + severities.length);
    const present = severities
      .map((severity, rank) => [severity, counts[rank]!] as const)
      .filter(([, count]) => count > 0);
    return {
      at: new Date(this.start + bucket * this.widthMs).toISOString(),
      count: counts.reduce((sum, count) => sum + count, 0),
      by_severity: Object.fromEntries(present),
    };
  }
}
