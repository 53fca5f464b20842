/** Robust statistics. All functions expect values in ascending order. */

/** Returns the median; NaN without values. */
export function median(sorted: readonly number[], from = 0, to = sorted.length): number {
  if (to <= from) return Number.NaN;
  const middle = (from + to) >> 1;
  return (to - from) % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the quartiles as medians of the halves, without the middle value. */
export function quartiles(sorted: readonly number[]): [q1: number, q2: number, q3: number] {
  const half = sorted.length >> 1;
  return [median(sorted, 0, half), median(sorted), median(sorted, sorted.length - half)];
}

/**
 * Returns the median of the deviations from the median. For normally distributed values, the result is 0.6745
 * of the standard deviation.
 */
export function medianDeviation(sorted: readonly number[], middle = median(sorted)): number {
  return median(sorted.map((value) => Math.abs(value - middle)).sort(ascending));
}

export const ascending = (a: number, b: number): number => a - b;
