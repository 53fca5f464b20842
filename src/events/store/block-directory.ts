import { columnIndex } from '../format/columns.ts';
import type { Table } from '../records.ts';
import { type BlockStore, firstSeqOf, type Replaced, storedBytes, type TableState } from './block-store.ts';

const columns = ['firstSeq', 'rows', 'bytes', 'minTime', 'maxTime', 'received'] as const;

/** The values of one block in a directory. */
type Entry = Readonly<Record<(typeof columns)[number], number>>;

/** Sequences [first, end). */
type Range = readonly [first: number, end: number];

/**
 * A thread's index of the blocks of one table: sequence, sizes and times, in typed arrays (48 bytes per block),
 * ascending by sequence. Built from the headers on first use. An update reads only the headers of new blocks and of
 * blocks that replaced others, and drops removed blocks.
 */
export class BlockDirectory {
  readonly table: Table;
  count = 0;
  firstSeq = new Float64Array(64);
  rows = new Float64Array(64);
  /** Sizes of the blocks as stored. */
  bytes = new Float64Array(64);
  minTime = new Float64Array(64);
  maxTime = new Float64Array(64);
  /** Receipt time of the last event of each block, epoch milliseconds. */
  received = new Float64Array(64);
  #nextSeq = 1;
  #generation = -1;

  constructor(table: Table) {
    this.table = table;
  }

  /**
   * Updates the directory to the snapshot that `store` currently reads.
   *
   * @param state - the state of the table in that snapshot
   * @throws DamagedBlockError if a header that must be read is damaged; the directory is then unchanged
   */
  update(store: Pick<BlockStore, 'headers'>, state: TableState): void {
    const first = firstSeqOf(state);
    const changes = this.#changed(state).map((range) => ({ range, entries: this.#read(store, first, range) }));
    for (const { range, entries } of changes) this.#splice(range, entries);
    this.#splice([0, first], []);
    this.#nextSeq = state.next_seq;
    this.#generation = state.generation;
  }

  /** Returns the index of the block that contains this row, or -1. */
  find(seq: number): number {
    const block = this.placeOf(seq);
    return block >= 0 && seq < this.firstSeq[block]! + this.rows[block]! ? block : -1;
  }

  /** Returns the index of the last block that does not begin after this row, or -1. */
  placeOf(seq: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.firstSeq[middle]! <= seq) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /**
   * Returns the rows whose blocks may differ from this directory, ascending and disjoint. In this directory and in the
   * store, a block begins at the start and at the end of each range. If a later merge moved such a start, its range
   * overlaps the earlier range, and both ranges are joined.
   */
  #changed({ next_seq, generation, replaced = [] }: TableState): Range[] {
    const merges = generation - this.#generation;
    if (merges === 0 && next_seq === this.#nextSeq) return [];
    const isAhead = next_seq < this.#nextSeq || merges < 0;
    if (isAhead || this.#generation < 0 || merges > replaced.length) return [[1, Number.POSITIVE_INFINITY]];
    const ranges = replaced.slice(replaced.length - merges).map(rangeOf);
    if (next_seq > this.#nextSeq) ranges.push([this.#nextSeq, Number.POSITIVE_INFINITY]);
    return joined(ranges);
  }

  #read(store: Pick<BlockStore, 'headers'>, firstStored: number, [first, end]: Range): Entry[] {
    const from = Math.max(first, firstStored);
    if (from >= end) return [];
    return Array.from(store.headers(this.table, from, end), ({ firstSeq, header }) => ({
      firstSeq,
      rows: header.rows,
      bytes: storedBytes(header),
      minTime: header.minTime,
      maxTime: header.maxTime,
      received: header.max(receivedColumn[this.table]),
    }));
  }

  /** Replaces the blocks that begin in a range. */
  #splice([first, end]: Range, entries: readonly Entry[]): void {
    const from = this.placeOf(first - 1) + 1;
    const to = this.placeOf(end - 1) + 1;
    if (from === to && entries.length === 0) return;
    const count = this.count + entries.length - (to - from);
    while (count > this.firstSeq.length) this.#grow();
    for (const column of columns) {
      this[column].copyWithin(from + entries.length, to, this.count);
      for (let i = 0; i < entries.length; i++) this[column][from + i] = entries[i]![column];
    }
    this.count = count;
  }

  #grow(): void {
    for (const column of columns) {
      const larger = new Float64Array(2 * this[column].length);
      larger.set(this[column]);
      this[column] = larger;
    }
  }
}

const rangeOf = (replaced: Replaced): Range =>
  typeof replaced === 'number' ? [replaced, Number.POSITIVE_INFINITY] : replaced;

/** Joins ranges that overlap or touch. Returns them ascending. */
function joined(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const [first, end] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last === undefined || first > last[1]) result.push([first, end]);
    else result[result.length - 1] = [last[0], Math.max(last[1], end)];
  }
  return result;
}

/** Column index of `received_at`. */
export const receivedColumn: Readonly<Record<Table, number>> = {
  network: columnIndex.network.get('received_at')!,
  dns: columnIndex.dns.get('received_at')!,
};
