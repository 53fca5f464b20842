/** One measured number. Rows of one question are compared with each other; machines are not. */
export interface BenchRow {
  readonly question: string;
  readonly variant: string;
  readonly value: number;
  /** The lowest and the highest of the rounds of which `value` is the median, where it was measured in rounds. */
  readonly low?: number;
  readonly high?: number;
  readonly unit: string;
  readonly note?: string;
}

/** A row of the figures of several rounds: their median, and how far apart they are. At least one. */
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

/** The one in the middle, or the mean of the two that are; NaN of none. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? Number.NaN) + (sorted[sorted.length >> 1] ?? Number.NaN)) / 2;
}

/** The least value that this share of all is at or below (nearest rank); NaN of none. `sorted` from the lowest. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Makes rows of one question. */
export const rowsAbout =
  (question: string) =>
  (variant: string, value: number, unit: string, note?: string): BenchRow => ({
    question,
    variant,
    value,
    unit,
    ...(note === undefined ? {} : { note }),
  });
