import { limits } from '../../limits.ts';
import type { EventBlock } from '../format/block.ts';
import { BlockBuilder } from '../format/block-builder.ts';
import type { BlockDirectory } from './block-directory.ts';

type Blocks = Pick<BlockDirectory, 'count' | 'firstSeq' | 'rows' | 'bytes' | 'received'>;

/** Blocks `[from, to)` of a directory. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/** Which runs may be merged, in addition to runs that cannot grow. */
export interface Choice {
  /** Whether a run at the end of the directory may be merged although it can still grow. Default: true. */
  readonly grows?: boolean;
  /** Whether large blocks may be rewritten to fill them. Default: true. */
  readonly fills?: boolean;
}

/** Minimum number of blocks in a run at the end of the directory. A shorter run is not merged, because it can grow. */
const fewAtEnd = 8;
/**
 * Maximum bytes of the blocks in a run, because the merger and a transaction hold them in memory. A full block of usual
 * events has 0.6 MB; senders of long texts could make it 100 times as large.
 */
const mostBytes = 8 * 2 ** 20;
/** Maximum number of blocks in a run: replacing a block of one row takes about 0.1 ms of the store's thread. */
const mostBlocks = 256;
/** Number of blocks from which a run that cannot grow is merged regardless of the sizes of its blocks. */
const manyWithin = 4;

/**
 * A day in milliseconds. Only blocks received on one day are merged, so that all events of a block that expires have
 * nearly the same age.
 */
const dayMs = 24 * 3_600_000;

/**
 * Chooses adjacent blocks to merge into one block of at most `maxRows` and 8 MiB; undefined if no merge is worthwhile. While a
 * run can still grow, it is merged only if the merged block is at least twice as large as the run's largest block. A
 * row is therefore rewritten at most about log2(maxRows) times, regardless of the size of its batch. The events of a
 * merged block were received on one day (UTC).
 *
 * If there is no such run, and `fills` is true, chooses three blocks that become two, or two blocks that exactly fill
 * one; see `filling`.
 *
 * @param start - the block with which the search starts
 */
export function chooseRun(blocks: Blocks, maxRows: number, choice: Choice = {}, start = 0): Run | undefined {
  const { count, rows, bytes } = blocks;
  const { grows = true, fills = true } = choice;
  let growing = count;
  for (let from = start; from < count; ) {
    const most = Math.min(count, from + mostBlocks);
    let to = from;
    let sum = 0;
    let size = 0;
    while (to < most && sum + rows[to]! <= maxRows && size + bytes[to]! <= mostBytes) {
      if (to > from && !isJoined(blocks, to)) break;
      size += bytes[to]!;
      sum += rows[to++]!;
    }
    const closed = to < count || to - from === mostBlocks;
    if (!closed) growing = from;
    if (closed && to - from >= manyWithin) return { from, to };
    const run = closed || (grows && to - from >= fewAtEnd) ? doubling(rows, from, to) : undefined;
    if (run !== undefined) return run;
    from = Math.max(to, from + 1);
  }
  return fills ? filling(blocks, growing, maxRows) : undefined;
}

/**
 * Chooses at most `most` runs without common blocks (see `chooseRun`). Blocks are filled only if there is no other run,
 * because the next filling begins with the rows that remain.
 */
export function chooseRuns(blocks: Blocks, maxRows: number, choice: Choice, most: number): Run[] {
  const runs: Run[] = [];
  for (let run = chooseRun(blocks, maxRows, choice); run !== undefined && runs.length < most; ) {
    runs.push(run);
    run = chooseRun(blocks, maxRows, { ...choice, fills: false }, run.to);
  }
  return runs;
}

/**
 * Returns whether a block directly follows the block before it, on the same day. A block that was set aside leaves a
 * gap.
 */
function isJoined({ firstSeq, rows, received }: Blocks, block: number): boolean {
  const before = block - 1;
  if (firstSeq[before]! + rows[before]! !== firstSeq[block]!) return false;
  return Math.floor(received[before]! / dayMs) === Math.floor(received[block]! / dayMs);
}

/**
 * Returns the first run before `end` of three blocks that fit into two blocks, or of two blocks with exactly `maxRows`
 * together. Bodies of 10,000 lines, for example, leave alternating blocks of 8,160 and 1,840 rows. The first
 * merged block is full or the only block, so each merge leaves fewer blocks. The rows that do not fit into the full
 * block are the first rows of the next merge, which may also rewrite full blocks.
 */
function filling(blocks: Blocks, end: number, maxRows: number): Run | undefined {
  const { rows, bytes } = blocks;
  for (let from = 0; from + 1 < end; from++) {
    if (rows[from] === maxRows || !isJoined(blocks, from + 1)) continue;
    const pair = rows[from]! + rows[from + 1]!;
    const size = bytes[from]! + bytes[from + 1]!;
    if (pair === maxRows && size <= mostBytes) return { from, to: from + 2 };
    const isTriple = from + 2 < end && isJoined(blocks, from + 2) && size + bytes[from + 2]! <= mostBytes;
    if (isTriple && pair + rows[from + 2]! <= 2 * maxRows) return { from, to: from + 3 };
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

/** Copies the rows of adjacent blocks of a table to new blocks. All new blocks except the last are full. */
export function mergeBlocks(blocks: readonly EventBlock[]): ArrayBuffer[] {
  const builder = new BlockBuilder(blocks[0]!.table, 0);
  const full: ArrayBuffer[] = [];
  for (const block of blocks) {
    const room = limits.maxBlockRows - builder.rows;
    if (block.rows <= room) {
      builder.copy(block);
      continue;
    }
    builder.copy(block, rowsBetween(0, room));
    full.push(builder.finish());
    builder.copy(block, rowsBetween(room, block.rows));
  }
  return [...full, builder.finish()];
}

const rowsBetween = (first: number, end: number): Uint32Array =>
  Uint32Array.from({ length: end - first }, (_, i) => first + i);
