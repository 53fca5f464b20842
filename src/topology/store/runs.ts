import { type Level, levels } from '../model/roll-up.ts';
import { maxSegmentRows } from '../model/segment.ts';
import { type GraphState, type RunRow, type RunSegment, rowsOf } from './graph-tables.ts';

/** Adjacent runs `[from, to)` of a level. */
export interface Neighbours {
  readonly level: Level;
  readonly from: number;
  readonly to: number;
}

/** Maximum runs of one merge, which holds a segment of each run in memory. */
const maxMergedRuns = 8;

/**
 * Chooses adjacent runs to merge. Considers the level with the most runs due to be merged (see `dueRuns`). If more than
 * `maxMergedRuns` are due there, chooses the `maxMergedRuns` adjacent runs with the fewest rows. Returns undefined if
 * no runs are due.
 *
 * When no runs are due, each run is more than twice as long as all newer runs together. Therefore, there are at most
 * about log2(rows) runs, and a row is rewritten about log2(rows) times on average.
 */
export function chooseRuns(runs: Readonly<Record<Level, readonly RunRow[]>>): Neighbours | undefined {
  const [most] = levels.map((level) => dueRuns(level, runs[level])).sort((a, b) => b.to - b.from - (a.to - a.from));
  const { level, from, to } = most!;
  const size = Math.min(to - from, maxMergedRuns);
  if (size <= 1) return undefined;
  const windows = Array.from({ length: to - from - size + 1 }, (_, n) => runs[level].slice(from + n, from + n + size));
  const rows = windows.map((window) => rowsOf(window.flat()));
  const first = from + rows.indexOf(Math.min(...rows));
  return { level, from: first, to: first + size };
}

/**
 * Returns the newest adjacent runs that are due to be merged: runs with at most twice as many rows as all newer runs
 * together, and the next newer run. Returns at most one run if no runs are due.
 */
function dueRuns(level: Level, runs: readonly RunRow[]): Neighbours {
  let newer = 0;
  let to = runs.length;
  let from = to;
  for (; from > 0; from--) {
    const rows = rowsOf(runs[from - 1]!);
    if (rows > 2 * newer) {
      if (to - from > 1) break;
      to = from;
    }
    newer += rows;
  }
  return { level, from, to };
}

/**
 * Removes the oldest buckets of a level until its largest run has at most `maxRows` rows. Returns the remaining runs,
 * the first remaining bucket, and the removed segments. Rows of other runs do not count, because they may repeat rows
 * of the largest run.
 */
export function withinRows(
  runs: readonly RunRow[],
  floor: number,
  maxRows: number,
): { readonly runs: readonly RunRow[]; readonly floor: number; readonly gone: readonly RunSegment[] } {
  const largest = largestOf(runs);
  let rows = rowsOf(largest);
  if (rows <= maxRows) return { runs, floor, gone: [] };
  let first = floor;
  for (const segment of largest) {
    if (rows <= maxRows) break;
    rows -= segment.rows;
    first = segment.max + 1;
  }
  const gone = runs.flat().filter(({ max }) => max < first);
  const left = runs.map((run) => run.filter(({ max }) => max >= first)).filter((run) => run.length > 0);
  return { runs: left, floor: first, gone };
}

/** Returns whether the runs other than the largest together have more segments than `maxRows` / 2 rows need. */
export function isCrowded(runs: readonly RunRow[], maxRows: number): boolean {
  return runs.flat().length - largestOf(runs).length > maxRows / 2 / maxSegmentRows;
}

const largestOf = (runs: readonly RunRow[]): RunRow =>
  runs.reduce((largest, run) => (rowsOf(run) > rowsOf(largest) ? run : largest), []);

/** Returns the state with the runs of one level replaced. */
export function withRuns(state: GraphState, level: Level, runs: readonly RunRow[]): GraphState {
  return { ...state, runs: { ...state.runs, [level]: runs } };
}
