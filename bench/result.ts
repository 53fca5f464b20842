/** One measured number. Rows with the same `question` can be compared if they were measured on the same machine. */
export interface BenchRow {
  readonly question: string;
  readonly variant: string;
  readonly value: number;
  /** The lowest figure, if there were several rounds; `value` is then the median. */
  readonly low?: number;
  /** The highest figure, if there were several rounds; `value` is then the median. */
  readonly high?: number;
  readonly unit: string;
  readonly note?: string;
}

/** Returns a row for the figures of at least one round: their median and range. */
export function rowOfRounds(
  row: Omit<BenchRow, 'value' | 'low' | 'high'>,
  figures: readonly number[],
  tell: (figure: number) => number = (figure) => figure,
): BenchRow {
  const sorted = figures.toSorted((a, b) => a - b);
  const [low, high] = [sorted[0], sorted.at(-1)];
  if (low === undefined || high === undefined) throw new Error(`${row.variant}: no round was measured`);
  const { question, variant, ...rest } = row;
  return {
    question,
    variant,
    value: tell(median(sorted)),
    ...(sorted.length > 1 && { low: tell(low), high: tell(high) }),
    ...rest,
  };
}

/** Returns the median; NaN for an empty list. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? Number.NaN) + (sorted[sorted.length >> 1] ?? Number.NaN)) / 2;
}

/**
 * Returns the quantile of the ascending list `sorted` by the nearest-rank method; NaN for an empty list.
 */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Returns a function that makes rows with this `question`. */
export const rowsAbout =
  (question: string) =>
  (variant: string, value: number, unit: string, note?: string): BenchRow => ({
    question,
    variant,
    value,
    unit,
    ...(note === undefined ? {} : { note }),
  });
