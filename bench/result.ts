/** One measured number. Rows of one question are compared with each other; machines are not. */
export interface BenchRow {
  readonly question: string;
  readonly variant: string;
  readonly value: number;
  readonly unit: string;
  readonly note?: string;
}
