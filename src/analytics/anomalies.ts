import type { Level } from '../rollups/levels.ts';

/** From this score on a value is out of the ordinary (Iglewicz, Hoaglin: How to Detect and Handle Outliers, 1993). */
const leastScore = 3.5;
/** The standard deviation of a normal distribution, in median absolute deviations. */
const deviations = 1.4826;
/** A value that is off by less than this part of what is expected, is an ordinary one however alike the others are. */
const leastShare = 0.05;
/** … and one by a few more than nothing, where a network is quiet. */
const leastSpread = 2;

/** What a bucket is compared with: earlier ones that lie whole periods before it. */
interface Comparison {
  /** In buckets. */
  readonly period: number;
  /** Fewer say nothing; more than that are not looked at. */
  readonly least: number;
  readonly most: number;
}

/** The first of them with enough history counts: the same hour of the week, the same of the day, those just before. */
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

export const method = `Each bucket is compared with the same hour of the week or weekday before, where there are ${comparisons.hour[0].least} of them, else with the same hour of the days before, else with the buckets just before it. Its score is its distance from their median in units of 1.4826 times their median absolute deviation (at least ${leastSpread}, the square root of the median, and ${100 * leastShare} % of it); from ${leastScore} on it is out of the ordinary. The bucket of now, which isn't over, can only be so by being too high.`;

export interface Anomaly {
  /** Place of the bucket among the values. */
  readonly place: number;
  readonly value: number;
  readonly expected: number;
  readonly score: number;
}

/**
 * Values out of the ordinary, from the place `shown` on; those before are history.
 *
 * @param known - place of the first bucket that was counted as a whole
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
    if (score >= leastScore || (isOver && score <= -leastScore))
      found.push({ place, value, expected: median, score });
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

/** Median, and a spread that is never 0: counts of what comes by chance vary by the square root of what is expected. */
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
