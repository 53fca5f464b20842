import { ascending, median, medianDeviation, quartiles } from './order-statistics.ts';
import { thousandths } from './thousandths.ts';

/** RITA's defaults (default_config.hjson, scoring.beacon). */
const terms = {
  /** Number of equal parts of the window. Connections are counted per part. */
  bars: 24,
  /** Minimum distance between the quartiles for using the skewness. */
  minSpread: 10,
  /** Width of a class of heights, as a share of the highest bar. Bars of the same class count as equal. */
  heightSensitivity: 0.05,
  /** Number of bars in use that may have other heights than the two most frequent heights. */
  oddBars: 1,
  /** Minimum bars in use for the two-heights score. */
  minBarsForHeights: 11,
  /** Minimum bars in use for the duration score. */
  minBarsForDuration: 6,
  /** Minimum consecutive bars for the full duration score. */
  idealRun: 12,
} as const;

/** A time window in epoch seconds, both limits inclusive. */
export interface ScoreWindow {
  readonly from: number;
  readonly to: number;
}

/** Similarity of a pair's connections to a C2 beacon. Each subscore is 0–1, rounded to three decimals. */
export interface BeaconScore {
  /** Mean of the four subscores. */
  readonly score: number;
  /** Regularity of the intervals. */
  readonly timestamps: number;
  /** Similarity of the sizes. */
  readonly sizes: number;
  /** Evenness of the number of connections over the window. */
  readonly histogram: number;
  /** Share of the window that the connections cover. */
  readonly duration: number;
  /** Median of the intervals, seconds. */
  readonly interval: number;
  /** Median of the deviations from the median interval, seconds. */
  readonly intervalDeviation: number;
  /** Median size, bytes. */
  readonly size: number;
  /** Connections per 24th of the window. */
  readonly bars: readonly number[];
}

/**
 * The beacon score of RITA 5 (activecm/rita, analysis/beacons.go): the mean of four subscores.
 *
 * - timestamps, sizes: `(1 - |Bowley skewness| + (median - MAD) / median) / 2` of the nonzero intervals, and
 *   of the sizes. Skewness counts only if the quartiles are 10 or more apart and the median differs from
 *   both. With a median below 1, the second term is 1 for intervals and 0 for sizes.
 * - histogram: the higher of `1 - coefficient of variation` of the counts in 24 equal parts of the window, and, with 11
 *   or more parts in use, the number of parts with one of the two most frequent heights, divided by the number of parts
 *   in use minus one.
 * - duration, with 6 or more parts in use: the higher of the share of the window from the first to the last connection,
 *   and the longest run of parts in use divided by 12. A run may continue from the last part to the first part.
 *
 * RITA uses the connections from the beginning of the hour in which its window begins, and counts connections before
 * the window in its first part. This function does the same. The sizes are the IP bytes sent by the originator.
 *
 * @param times - epoch seconds, fractions dropped, in any order
 * @param bars - connections per 24th of the window, if `times` holds only some of them
 * @returns undefined for fewer than three nonzero intervals or three sizes, and for an empty window
 */
export function beaconScore(
  times: readonly number[],
  sizes: readonly number[],
  window: ScoreWindow,
  bars: readonly number[] = countBars(times, window),
): BeaconScore | undefined {
  const seconds = times.map(Math.floor).sort(ascending);
  const intervals = intervalsOf(seconds);
  if (intervals.length < 3 || sizes.length < 3 || window.to <= window.from) return undefined;
  const sizesInOrder = [...sizes].sort(ascending);
  const timestamps = likeness(intervals, 1);
  const size = likeness(sizesInOrder, 0);
  const histogram = Math.max(evenness(bars), twoHeights(bars));
  const duration = lasting(bars, (seconds.at(-1)! - seconds[0]!) / (window.to - window.from));
  const interval = median(intervals);
  return {
    score: thousandths((timestamps + size + histogram + duration) / 4),
    timestamps,
    sizes: size,
    histogram,
    duration,
    interval,
    intervalDeviation: medianDeviation(intervals, interval),
    size: median(sizesInOrder),
    bars,
  };
}

/**
 * Returns the subscore `timestamps`, in a fifth of the time of the full score. Most pairs do not reach the threshold
 * of this subscore.
 *
 * @param seconds - whole epoch seconds in ascending order
 */
export function regularity(seconds: readonly number[]): number {
  const intervals = intervalsOf(seconds);
  return intervals.length < 3 ? 0 : likeness(intervals, 1);
}

/**
 * Counts connections per 24th of the window. Connections before the window are counted in the first part, and
 * connections after the window in the last part.
 */
export function countBars(times: readonly number[], { from, to }: ScoreWindow): number[] {
  const bars = new Array<number>(terms.bars).fill(0);
  const step = (to - from) / terms.bars;
  for (const time of times)
    bars[Math.max(0, Math.min(terms.bars - 1, Math.floor((Math.floor(time) - from) / step)))]!++;
  return bars;
}

/** Returns the nonzero intervals in ascending order. */
function intervalsOf(seconds: readonly number[]): number[] {
  const intervals: number[] = [];
  for (let i = 1; i < seconds.length; i++) {
    const interval = seconds[i]! - seconds[i - 1]!;
    if (interval > 0) intervals.push(interval);
  }
  return intervals.sort(ascending);
}

function likeness(sorted: readonly number[], belowOne: number): number {
  const [q1, q2, q3] = quartiles(sorted);
  const isSkewed = q3 - q1 >= terms.minSpread && q2 !== q1 && q2 !== q3;
  const skewness = isSkewed ? (q1 + q3 - 2 * q2) / (q3 - q1) : 0;
  const steadiness = q2 >= 1 ? Math.max(0, (q2 - medianDeviation(sorted, q2)) / q2) : belowOne;
  return thousandths((1 - Math.abs(skewness) + steadiness) / 2);
}

function evenness(bars: readonly number[]): number {
  const mean = bars.reduce((sum, count) => sum + count, 0) / bars.length;
  const variance = bars.reduce((sum, count) => sum + (count - mean) ** 2, 0) / bars.length;
  return mean > 0 ? Math.max(0, thousandths(1 - Math.sqrt(variance) / mean)) : 0;
}

function twoHeights(bars: readonly number[]): number {
  const used = bars.filter((count) => count > 0);
  if (used.length < terms.minBarsForHeights) return 0;
  const step = Math.ceil(Math.max(...used) * terms.heightSensitivity);
  const byHeight = new Map<number, number>();
  for (const count of used) {
    const height = Math.floor(count / step);
    byHeight.set(height, (byHeight.get(height) ?? 0) + 1);
  }
  const [most = 0, next = 0] = [...byHeight.values()].sort((a, b) => b - a);
  return Math.min(1, thousandths((most + next) / Math.max(1, used.length - terms.oddBars)));
}

function lasting(bars: readonly number[], share: number): number {
  const used = bars.filter((count) => count > 0).length;
  if (used < terms.minBarsForDuration) return 0;
  return Math.min(1, Math.max(thousandthsUp(share), thousandthsUp(longestRun(bars) / terms.idealRun)));
}

function longestRun(bars: readonly number[]): number {
  let longest = 0;
  let run = 0;
  for (let i = 0; i < 2 * bars.length; i++) {
    run = bars[i % bars.length]! > 0 ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return Math.min(longest, bars.length);
}

const thousandthsUp = (value: number): number => Math.ceil(value * 1000) / 1000;
