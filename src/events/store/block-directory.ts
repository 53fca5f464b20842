import { columnIndex } from '../format/columns.ts';
import type { Table } from '../records.ts';
import { type BlockStore, firstSeqOf, type TableState } from './block-store.ts';

/**
 * A thread's index of the blocks of one table: sequence, size and times, in typed arrays (40 bytes per block),
 * ascending by sequence. Built from the headers on first use. An update reads only new blocks and the blocks from the
 * first replaced block on, and drops removed blocks.
 */
export class BlockDirectory {
  readonly table: Table;
  count = 0;
  firstSeq = new Float64Array(64);
  rows = new Float64Array(64);
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
   */
  update(store: Pick<BlockStore, 'headers'>, state: TableState): void {
    this.#dropFrom(state.next_seq < this.#nextSeq ? 1 : this.#replacedFrom(state));
    this.#dropBefore(firstSeqOf(state));
    if (state.next_seq > this.#nextSeq) {
      for (const { firstSeq, header } of store.headers(this.table, this.#nextSeq)) {
        if (this.count === this.firstSeq.length) this.#grow();
        this.firstSeq[this.count] = firstSeq;
        this.rows[this.count] = header.rows;
        this.minTime[this.count] = header.minTime;
        this.maxTime[this.count] = header.maxTime;
        this.received[this.count] = header.max(receivedColumn[this.table]);
        this.count++;
      }
    }
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

  /** Returns the first sequence from which blocks differ from the blocks in this directory. */
  #replacedFrom({ generation, replaced = [] }: TableState): number {
    const merges = generation - this.#generation;
    if (merges === 0) return Number.POSITIVE_INFINITY;
    if (this.#generation < 0 || merges < 0 || merges > replaced.length) return 1;
    return Math.min(...replaced.slice(-merges));
  }

  #dropFrom(firstSeq: number): void {
    while (this.count > 0 && this.firstSeq[this.count - 1]! >= firstSeq) this.count--;
    if (firstSeq < this.#nextSeq) this.#nextSeq = firstSeq;
  }

  #dropBefore(firstSeq: number): void {
    let gone = 0;
    while (gone < this.count && this.firstSeq[gone]! < firstSeq) gone++;
    if (gone === 0) return;
    for (const array of [this.firstSeq, this.rows, this.minTime, this.maxTime, this.received])
      array.copyWithin(0, gone, this.count);
    this.count -= gone;
  }

  #grow(): void {
    const grown = (array: Float64Array<ArrayBuffer>) => {
      const larger = new Float64Array(2 * array.length);
      larger.set(array);
      return larger;
    };
    this.firstSeq = grown(this.firstSeq);
    this.rows = grown(this.rows);
    this.minTime = grown(this.minTime);
    this.maxTime = grown(this.maxTime);
    this.received = grown(this.received);
  }
}

/** Column index of `received_at`. */
export const receivedColumn: Readonly<Record<Table, number>> = {
  network: columnIndex.network.get('received_at')!,
  dns: columnIndex.dns.get('received_at')!,
};
