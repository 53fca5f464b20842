import type { BlockDirectory } from './block-directory.ts';

/** Blocks `[from, to)` of a directory. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/** While fewer blocks than this are at the end, wait for more and merge them together. */
const fewAtEnd = 8;
/** A run that cannot grow is merged if it has at least this many blocks, whatever their sizes. */
const manyWithin = 4;

/**
 * Only blocks of the same day are merged, so that all events of a block that expires have nearly the same
 * age.
 */
const dayMs = 24 * 3_600_000;

/**
 * Chooses adjacent blocks to merge into one of at most `maxRows`; undefined if none are worth it. While a run
 * can still grow, it is merged only if that at least doubles its largest block: so a row is rewritten at most
 * about log2(maxRows) times, however small its batch was. The events of a merged block were received on one
 * day (UTC).
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

/** Returns the run itself, or the part of it on one side of a block that is too large to be rewritten yet. */
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
