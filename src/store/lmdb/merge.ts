import type { BlockDirectory } from './block-directory.ts';

/** Blocks `[from, to)` of a directory. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/** As long as fewer blocks than this lie at the end, more will come and be merged with them. */
const fewAtEnd = 8;
/** A run that nothing more can join is merged from this many blocks on, whatever their sizes. */
const manyWithin = 4;

/** Blocks are merged with those of the same day: so when one goes for its age, all in it is nearly as old. */
const dayMs = 24 * 3_600_000;

/**
 * Which adjacent blocks to merge into one of at most `maxRows`, or undefined when none are worth it. While a run can
 * still grow, it is merged only if that at least doubles its largest block: so a row is rewritten about log2(maxRows)
 * times at most, however small the batches in which it came. A block has events that were received on one day (UTC).
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
    // Behind a block that was set aside, another run begins.
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

/** The run itself, or the part of it on one side of a block that is too large to be rewritten yet. */
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
