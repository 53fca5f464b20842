/** Statistics that a few wild values don't move. All take values in ascending order. */

/** Mean of the two in the middle where their number is even. NaN of none. */
export function median(sorted: readonly number[], from = 0, to = sorted.length): number {
  if (to <= from) return Number.NaN;
  const middle = (from + to) >> 1;
  return (to - from) % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Quartiles as medians of the halves; the value in the middle is in neither. */
export function quartiles(sorted: readonly number[]): [q1: number, q2: number, q3: number] {
  const half = sorted.length >> 1;
  return [median(sorted, 0, half), median(sorted), median(sorted, sorted.length - half)];
}

/** Median of the distances from the median: for normal values 0.6745 of the standard deviation. */
export function medianDeviation(sorted: readonly number[], middle = median(sorted)): number {
  return median(sorted.map((value) => Math.abs(value - middle)).sort(ascending));
}

export const ascending = (a: number, b: number): number => a - b;
