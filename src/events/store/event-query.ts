import { limits } from '../../limits.ts';
import type { SortOrder } from '../../store/store.ts';
import type { EventBlock } from '../format/block.ts';
import type { NumberColumn } from '../format/column-readers.ts';
import type { EventFilter } from '../query/filter.ts';
import type { CompiledFilter } from '../query/select.ts';
import type { BlockDirectory } from './block-directory.ts';
import type { BlockStore } from './block-store.ts';
import { Candidates } from './candidates.ts';

/** The position of an event in a list. */
export interface Position {
  readonly timestamp: number;
  readonly seq: number;
}

type TimeBounds = Pick<EventFilter, 'from' | 'to'>;

/**
 * Finds pages of events in order of time, then sequence, over one snapshot of a table.
 *
 * Both directions share the code: keys are times and sequences, which are negated for ascending order, so that the
 * larger key always comes first. `head` and `tail` of a block are its first and last time key.
 *
 * ```
 *   blocks by head      ├─ counted whole ─┤├──── window: sorted ────┤├─ counted whole ─┤
 *   page                                        ▲ offset … + size
 * ```
 */
export class EventQuery {
  readonly #store: BlockStore;
  readonly #directory: BlockDirectory;
  readonly #filter: CompiledFilter;
  readonly #sign: 1 | -1;
  /** Last sequence of the list. Later rows are not in the list. */
  readonly #lastSeq: number;

  constructor(store: BlockStore, directory: BlockDirectory, filter: CompiledFilter, order: SortOrder, lastSeq: number) {
    this.#store = store;
    this.#directory = directory;
    this.#filter = filter;
    this.#sign = order === 'desc' ? 1 : -1;
    this.#lastSeq = lastSeq;
  }

  open(block: number): EventBlock {
    const { table, firstSeq, rows } = this.#directory;
    return this.#store.open(table, firstSeq[block]!, rows[block]!);
  }

  /** Returns a block, which is valid until the next call. */
  look(block: number): EventBlock {
    const { table, firstSeq, rows } = this.#directory;
    return this.#store.openBorrowed(table, firstSeq[block]!, rows[block]!);
  }

  /**
   * Returns the number of matching rows of each block, for a filter that bounds only time. Blocks entirely inside or
   * outside the range are not read.
   */
  countsWithin({ from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: TimeBounds): Float64Array {
    const { count, rows, minTime, maxTime } = this.#directory;
    const counts = new Float64Array(count);
    for (let block = 0; block < count; block++) {
      const [first, last] = [minTime[block]!, maxTime[block]!];
      if (first >= from && last < to) counts[block] = rows[block]!;
      else if (!(last < from || first >= to)) counts[block] = this.count(block);
    }
    return counts;
  }

  count(block: number): number {
    return this.#filter.count(this.look(block));
  }

  /** Returns the next events after a position, at most `size`. */
  after(position: Position, size: number): Position[] {
    const window = { high: this.#sign * position.timestamp, low: Number.NEGATIVE_INFINITY };
    return this.#collect(this.#overlapping(window), window, 0, size, position);
  }

  /**
   * Returns the next events after a position, or from the first event on: at most `size`. Returns fewer events once
   * `scanRows` rows of blocks that begin after the position were read, so that other requests can run. `next` is the
   * position from which to continue; absent at the end.
   */
  sweep(
    from: Position | undefined,
    size: number,
    scanRows: number,
  ): { readonly found: Position[]; readonly next?: Position } {
    const high = from === undefined ? Number.POSITIVE_INFINITY : this.#sign * from.timestamp;
    const window = { high, low: Number.NEGATIVE_INFINITY };
    let left = scanRows;
    let cut: number | undefined;
    const enough = (block: number): boolean => {
      // Blocks that overlap the position are read again for every part. Their rows do not count towards
      // `scanRows`, so that every part makes progress.
      if (this.#head(block) >= high) return false;
      if (left <= 0) cut = this.#head(block);
      left -= this.#directory.rows[block]!;
      return cut !== undefined;
    };
    const candidates = this.#collect(this.#overlapping(window), window, 0, size, from, enough);
    const end = cut;
    // Events at the time `end` are left to the next part, because the block that was not opened may have events at that
    // time.
    const found = end === undefined ? candidates : candidates.filter(({ timestamp }) => this.#sign * timestamp > end);
    const last = found.at(-1);
    if (found.length === size && last !== undefined) return { found, next: last };
    if (end === undefined) return { found };
    return { found, next: { timestamp: this.#sign * end, seq: this.#sign * Number.POSITIVE_INFINITY } };
  }

  /**
   * Returns the events from the rank `offset` on, at most `size`.
   *
   * @param counts - numbers of matching rows by block, for this query
   */
  at(offset: number, size: number, counts: Float64Array, total: number): Position[] {
    const last = Math.min(offset + size, total) - 1;
    if (offset > last) return [];
    const blocks = [...counts.keys()].filter((block) => counts[block]! > 0);
    let window: Window = {
      high: keyAtRank(blocks, (block) => this.#head(block), counts, offset),
      low: keyAtRank(blocks, (block) => this.#tail(block), counts, last),
    };
    let before = 0;
    let near: number[] = [];
    let inside = 0;
    for (const block of blocks) {
      if (this.#tail(block) > window.high) before += counts[block]!;
      else if (this.#head(block) >= window.low) {
        near.push(block);
        inside += counts[block]!;
      }
    }
    if (inside <= limits.maxSortedEvents) {
      // Rows before the window, in blocks that extend into the window, are not included in `before`, but sorted with
      // the rows of the window.
      const open = { high: Number.POSITIVE_INFINITY, low: window.low };
      return this.#collect(near, open, offset - before, size);
    }
    let narrower = true;
    for (let first = true; narrower && inside > limits.maxSortedEvents; first = false) {
      const found = this.#narrow(near, window, before, first, offset, last);
      narrower = found.window.high !== window.high || found.window.low !== window.low;
      ({ window, before, inside } = found);
      near = near.filter((block) => this.#head(block) >= window.low && this.#tail(block) <= window.high);
    }
    if (inside <= limits.maxSortedEvents) return this.#collect(near, window, offset - before, size);
    // A very large number of events with the same millisecond is read in order of sequence, as stored.
    const found = this.#inOrder(near, window.high, offset - before, size);
    if (found.length === size || window.low === window.high) return found;
    const rest = { high: window.high - 1, low: window.low };
    return [...found, ...this.#collect(near, rest, 0, size - found.length)];
  }

  #head(block: number): number {
    return this.#sign === 1 ? this.#directory.maxTime[block]! : -this.#directory.minTime[block]!;
  }

  #tail(block: number): number {
    return this.#sign === 1 ? this.#directory.minTime[block]! : -this.#directory.maxTime[block]!;
  }

  #overlapping({ high, low }: Window): number[] {
    const blocks: number[] = [];
    for (let block = 0; block < this.#directory.count; block++) {
      if (this.#tail(block) <= high && this.#head(block) >= low) blocks.push(block);
    }
    return blocks;
  }

  /** Visits matching rows of a block by time key and sequence, in the query's direction. */
  #visit(block: number, seen: (time: number, seq: number) => void): void {
    const firstSeq = this.#directory.firstSeq[block]!;
    if (firstSeq > this.#lastSeq) return;
    const opened = this.look(block);
    const timestamps: NumberColumn = opened.numbers('timestamp');
    const rows = this.#filter.all ? undefined : this.#filter.select(opened);
    let count = rows?.length ?? opened.rows;
    while (count > 0 && firstSeq + (rows === undefined ? count - 1 : rows[count - 1]!) > this.#lastSeq) count--;
    for (let i = 0; i < count; i++) {
      const place = this.#sign === 1 ? count - 1 - i : i;
      const row = rows === undefined ? place : rows[place]!;
      seen(this.#sign * timestamps.at(row), firstSeq + row);
    }
  }

  /**
   * Sorts the events in the window, block by block, until no further block can contain an event of the result, or until
   * `enough` returns true.
   */
  #collect(
    blocks: number[],
    { high, low }: Window,
    skip: number,
    size: number,
    after?: Position,
    enough: (block: number) => boolean = () => false,
  ): Position[] {
    const sign = this.#sign;
    const best = new Candidates(skip + size);
    const afterTime = after === undefined ? Number.POSITIVE_INFINITY : sign * after.timestamp;
    const afterSeq = after === undefined ? 0 : sign * after.seq;
    for (const block of [...blocks].sort((a, b) => this.#head(b) - this.#head(a))) {
      if (best.threshold() > this.#head(block) || enough(block)) break;
      this.#visit(block, (time, seq) => {
        if (time > high || time < low) return;
        if (time > afterTime || (time === afterTime && sign * seq >= afterSeq)) return;
        best.add(time, sign * seq);
      });
    }
    const { times, seqs } = best.take(skip);
    return Array.from(times, (time, i) => ({ timestamp: sign * time, seq: sign * seqs[i]! }));
  }

  /**
   * Counts the window's events by time and returns the part of the window that contains ranks `first` to `last`.
   * `before` is the number of events before the window. `countAhead` is true if `before` does not include events of
   * these blocks yet.
   */
  #narrow(
    blocks: readonly number[],
    { high, low }: Window,
    before: number,
    countAhead: boolean,
    first: number,
    last: number,
  ): { window: Window; before: number; inside: number } {
    const width = Math.max(1, Math.ceil((high - low + 1) / buckets));
    const counts = new Float64Array(Math.ceil((high - low + 1) / width));
    let rank = before;
    for (const block of blocks) {
      this.#visit(block, (time) => {
        if (time > high) {
          if (countAhead) rank++;
        } else if (time >= low) counts[Math.floor((high - time) / width)]!++;
      });
    }
    let from = 0;
    while (rank + counts[from]! <= first) rank += counts[from++]!;
    let to = from;
    let inside = counts[from]!;
    while (rank + inside <= last) inside += counts[++to]!;
    return {
      window: { high: high - from * width, low: Math.max(low, high - (to + 1) * width + 1) },
      before: rank,
      inside,
    };
  }

  /** Returns events of one time key, visiting blocks in order of sequence. */
  #inOrder(blocks: readonly number[], key: number, skip: number, size: number): Position[] {
    const found: Position[] = [];
    let skipped = 0;
    for (const block of [...blocks].sort((a, b) => this.#sign * (b - a))) {
      if (found.length === size) break;
      this.#visit(block, (time, seq) => {
        if (time !== key || found.length === size) return;
        if (skipped < skip) skipped++;
        else found.push({ timestamp: this.#sign * time, seq });
      });
    }
    return found;
  }
}

/** Range of time keys, inclusive. */
interface Window {
  readonly high: number;
  readonly low: number;
}

const buckets = 4096;

/** Adds up the counts of blocks by descending key, and returns the key at which the sum exceeds `rank`. */
function keyAtRank(
  blocks: readonly number[],
  keyOf: (block: number) => number,
  counts: Float64Array,
  rank: number,
): number {
  let sum = 0;
  for (const block of [...blocks].sort((a, b) => keyOf(b) - keyOf(a))) {
    sum += counts[block]!;
    if (sum > rank) return keyOf(block);
  }
  throw new Error(`there is no event with rank ${rank}`);
}
