import type { Level } from '../rollups/model/levels.ts';

/** The minimum score of an outlier (Iglewicz, Hoaglin: How to Detect and Handle Outliers, 1993). */
const leastScore = 3.5;
/** Standard deviation of a normal distribution, as a multiple of the median absolute deviation. */
const deviations = 1.4826;
/** Minimum spread as a share of the expected value, for very similar values. */
const leastShare = 0.05;
/** Minimum absolute spread, for quiet networks. */
const leastSpread = 2;

/** The earlier buckets with which a bucket is compared, which are a whole number of periods older. */
interface Comparison {
  /** The length of a period, in buckets. */
  readonly period: number;
  /** Minimum number of earlier buckets. */
  readonly least: number;
  /** Maximum number of earlier buckets that are examined. */
  readonly most: number;
}

/**
 * Comparisons by bucket width: the same hour of the week, the same hour of the day, and the preceding buckets.
 * The first comparison with enough history is used.
 */
const comparisons = {
  minute: [{ period: 1, least: 15, most: 60 }],
  hour: [
    { period: 168, least: 5, most: 8 },
    { period: 24, least: 7, most: 28 },
    { period: 1, least: 12, most: 48 },
  ],
  day: [
    { period: 7, least: 5, most: 8 },
    { period: 1, least: 7, most: 28 },
  ],
} as const satisfies Record<Level, readonly Comparison[]>;

export const method = `Each bucket is compared with the same hour of the week (or the same weekday) in earlier weeks if there are at least ${comparisons.hour[0].least} of them, else with the same hour of earlier days, else with the preceding buckets. Its score is its distance from their median in units of 1.4826 times their median absolute deviation (at least ${leastSpread}, the square root of the median, and ${100 * leastShare} % of it); a score of ${leastScore} or more is an anomaly. The current bucket, which is incomplete, can only be an anomaly by being too high.`;

export interface Anomaly {
  /** Index of the bucket. */
  readonly place: number;
  readonly value: number;
  readonly expected: number;
  readonly score: number;
}

/**
 * Finds outliers from the index `shown` on. Earlier buckets are only history.
 *
 * @param known - index of the first complete bucket
 */
export function anomalies(values: Float64Array, unit: Level, known: number, shown: number): Anomaly[] {
  const found: Anomaly[] = [];
  for (let place = Math.max(shown, known); place < values.length; place++) {
    const before = comparable(values, unit, known, place);
    if (before === undefined) continue;
    const value = values[place]!;
    const { median, spread } = robust(before);
    const score = (value - median) / spread;
    const isOver = place < values.length - 1;
    if (score >= leastScore || (isOver && score <= -leastScore)) found.push({ place, value, expected: median, score });
  }
  return found;
}

function comparable(values: Float64Array, unit: Level, known: number, place: number): number[] | undefined {
  for (const { period, least, most } of comparisons[unit]) {
    const before: number[] = [];
    for (let at = place - period; at >= known && before.length < most; at -= period) before.push(values[at]!);
    if (before.length >= least) return before;
  }
  return undefined;
}

/**
 * Returns the median and a spread. The spread is at least the square root of the median, because random counts vary by
 * that amount.
 */
function robust(values: readonly number[]): { median: number; spread: number } {
  const median = middle(values);
  const deviation = middle(values.map((value) => Math.abs(value - median)));
  const spread = Math.max(deviations * deviation, leastShare * median, Math.sqrt(median), leastSpread);
  return { median, spread };
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >>> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
