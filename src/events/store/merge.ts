import type { BlockDirectory } from './block-directory.ts';

/** Blocks `[from, to)` of a directory. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/** Minimum blocks at the end of the directory for a merge. With fewer blocks, merging waits for more blocks. */
const fewAtEnd = 8;
/** Minimum blocks of a run that cannot grow, for a merge regardless of the sizes of the blocks. */
const manyWithin = 4;

/**
 * A day in milliseconds. Only blocks received on one day are merged, so that all events of a block that expires have
 * nearly the same age.
 */
const dayMs = 24 * 3_600_000;

/**
 * Chooses adjacent blocks to merge into one block of at most `maxRows`; undefined if no merge is worthwhile. While a
 * run can still grow, it is merged only if the merged block is at least twice as large as the run's largest block. A
 * row is therefore rewritten at most about log2(maxRows) times, regardless of the size of its batch. The events of a
 * merged block were received on one day (UTC).
 */
export function chooseRun(
  { count, firstSeq, rows, received }: Pick<BlockDirectory, 'count' | 'firstSeq' | 'rows' | 'received'>,
  maxRows: number,
): Run | undefined {
  const dayOf = (block: number) => Math.floor(received[block]! / dayMs);
  for (let from = 0; from < count; ) {
    let to = from;
    let sum = 0;
    const day = dayOf(from);
    // A block that was set aside ends a run.
    const next = firstSeq[from]!;
    while (to < count && firstSeq[to] === next + sum && sum + rows[to]! <= maxRows && dayOf(to) === day)
      sum += rows[to++]!;
    const closed = to < count;
    if (closed && to - from >= manyWithin) return { from, to };
    const run = closed || to - from >= fewAtEnd ? doubling(rows, from, to) : undefined;
    if (run !== undefined) return run;
    from = Math.max(to, from + 1);
  }
  return undefined;
}

/**
 * Returns the run itself, or a part of the run on one side of a block that is too large to be rewritten yet.
 */
function doubling(rows: Float64Array, from: number, to: number): Run | undefined {
  if (to - from < 2) return undefined;
  let sum = 0;
  let largest = from;
  for (let i = from; i < to; i++) {
    sum += rows[i]!;
    if (rows[i]! > rows[largest]!) largest = i;
  }
  if (sum >= 2 * rows[largest]!) return { from, to };
  return doubling(rows, from, largest) ?? doubling(rows, largest + 1, to);
}
