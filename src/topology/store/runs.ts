import type { Level } from '../model/roll-up.ts';
import { type GraphState, type RunRow, type RunSegment, rowsOf } from './graph-tables.ts';

/** Adjacent runs `[from, to)` of a level. */
export interface Neighbours {
  readonly level: Level;
  readonly from: number;
  readonly to: number;
}

/**
 * Chooses the runs to merge: the newest run and the runs before it, until a run has more than twice the rows of
 * all newer runs. After the merge, each run is more than twice as long as the next run, so there are about
 * log2(rows) runs, and each row is rewritten about log2(rows) times.
 */
export function chooseRuns(runs: Readonly<Record<Level, readonly RunRow[]>>): Neighbours | undefined {
  for (const level of ['hour', 'day', 'ever'] as const) {
    const its = runs[level];
    let from = its.length - 1;
    let newer = from < 0 ? 0 : rowsOf(its[from]!);
    while (from > 0 && rowsOf(its[from - 1]!) <= 2 * newer) newer += rowsOf(its[--from]!);
    if (its.length - from > 1) return { level, from, to: its.length };
  }
  return undefined;
}

/**
 * Returns the runs of a level after removing the oldest buckets to meet a limit on rows, and the first
 * remaining bucket.
 */
export function withinRows(
  runs: readonly RunRow[],
  floor: number,
  maxRows: number,
): { readonly runs: readonly RunRow[]; readonly floor: number; readonly gone: readonly RunSegment[] } {
  let rows = runs.reduce((sum, run) => sum + rowsOf(run), 0);
  if (rows <= maxRows) return { runs, floor, gone: [] };
  const byEnd = runs.flat().sort((a, b) => a.max - b.max);
  let first = floor;
  for (const segment of byEnd) {
    if (rows <= maxRows) break;
    rows -= segment.rows;
    first = segment.max + 1;
  }
  const gone = byEnd.filter(({ max }) => max < first);
  const left = runs.map((run) => run.filter(({ max }) => max >= first)).filter((run) => run.length > 0);
  return { runs: left, floor: first, gone };
}

/** Returns the state with the runs of one level replaced. */
export function withRuns(state: GraphState, level: Level, runs: readonly RunRow[]): GraphState {
  return { ...state, runs: { ...state.runs, [level]: runs } };
}
