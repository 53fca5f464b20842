import { DamagedDataError, isDamage } from '../../database/rows.ts';
import { parseEventId } from '../event-id.ts';
import type { EventBlock } from '../format/block.ts';
import type { TextColumn } from '../format/column-readers.ts';
import type { Table } from '../records.ts';
import { rowId } from '../resource.ts';
import type { BlockDirectory } from './block-directory.ts';
import { type BlockStore, firstSeqOf, type TableState } from './block-store.ts';
import { type StoredIds, standingBeside, type Unrepeated } from './explicit-ids.ts';
import type { IdKeys } from './id-keys.ts';

/** Maximum number of blocks in memory while the owners of repeated ids are read: opening a block takes 10 µs. */
const maxOwnerBlocks = 64;

/** Number of ids removed from their index between two checks of the time. */
const idsPerLook = 64;

/** Finds stored events by their ids, and maintains the index of explicit ids. */
export class EventIds {
  readonly #store: BlockStore;
  /** Returns the current directory of a table. After an aborted transaction, the directory is a different object. */
  readonly #directoryOf: (table: Table) => BlockDirectory;
  /** Progress of `forget` within the remains of a block. */
  #forgotten = { table: '', firstSeq: 0, rows: 0 };

  constructor(store: BlockStore, directoryOf: (table: Table) => BlockDirectory) {
    this.#store = store;
    this.#directoryOf = directoryOf;
  }

  /** Forgets state read inside an aborted transaction. */
  reload(): void {
    this.#forgotten = { table: '', firstSeq: 0, rows: 0 };
  }

  /** Finds the stored events that already have an id of a new block. Must be used within the write transaction. */
  stored(table: Table, state: TableState, ids: IdKeys): StoredIds {
    const own = this.#owners(table, ids);
    const beside = this.#owners(table === 'network' ? 'dns' : 'network', ids);
    const standing: StoredIds['standing'] = (id, sensor, row) => {
      if (isPast(table, state, id)) return 'repeated';
      const owner = own.of(id, row);
      if (owner !== 'free') return standingBeside(owner, sensor);
      // The service may assign this id to another event, and an alert may already refer to it.
      if (parseEventId(id) !== undefined) return 'foreign';
      const other = beside.of(id, row);
      return other !== 'free' && standingBeside(other, sensor) === 'foreign' ? 'foreign' : 'free';
    };
    return { hasAny: own.hasAny || beside.hasAny, standing };
  }

  /**
   * Returns a function that returns the sensor of the event with an id: `free` if no event has the id, undefined if the
   * sensor is unknown. The id is the id of `row` of the new block, or a scoped id without a row.
   */
  #owners(table: Table, ids: IdKeys) {
    const state = this.#store.state(table);
    const directory = this.#directoryOf(table);
    const seqs = this.#store.explicitIds(table, ids);
    /** Blocks by first sequence: several senders may repeat events of different blocks in turn. */
    const blocks = new Map<number, EventBlock>();
    let block: EventBlock | undefined;
    const of = (id: string, row: number | undefined): string | 'free' | undefined => {
      const indexed = (row === undefined ? this.#store.explicitId(table, id) : seqs?.[row]) ?? 0;
      if (parseEventId(id) !== undefined) directory.update(this.#store, state);
      const seq = this.find(table, directory, state, id, indexed);
      if (seq === undefined) return 'free';
      if (block === undefined || seq < block.firstSeq || seq >= block.firstSeq + block.rows) {
        directory.update(this.#store, state);
        const place = directory.find(seq);
        // The block of the event is damaged and was set aside, so the event may be stored again.
        if (place < 0) return 'free';
        const firstSeq = directory.firstSeq[place]!;
        block = blocks.get(firstSeq) ?? this.#store.open(table, firstSeq, directory.rows[place]!);
        if (blocks.size === maxOwnerBlocks) blocks.clear();
        blocks.set(firstSeq, block);
      }
      return block.texts('sensor_id').text(seq - block.firstSeq);
    };
    return { hasAny: seqs !== undefined, of };
  }

  /**
   * Returns the sequence of the event with this id (lower case): from the id itself, otherwise from the index
   * of senders' ids.
   *
   * @param indexed - the sequence in the index; 0 if the index does not have the id
   */
  find(
    table: Table,
    directory: BlockDirectory,
    state: TableState,
    id: string,
    indexed = this.#store.explicitId(table, id),
  ): number | undefined {
    const made = parseEventId(id);
    if (made !== undefined && made.table === table && made.seq > 0 && made.seq < state.next_seq) {
      const block = this.blockOf(directory, made.seq);
      if (block !== undefined && rowId(block, made.seq - block.firstSeq) === id) return made.seq;
    }
    return indexed !== undefined && indexed >= firstSeqOf(state) ? indexed : undefined;
  }

  /**
   * Returns the block that contains a sequence; undefined if no stored block contains it. The block is valid until the
   * next call.
   */
  blockOf(directory: BlockDirectory, seq: number): EventBlock | undefined {
    const place = directory.find(seq);
    if (place < 0) return undefined;
    return this.#store.openBorrowed(directory.table, directory.firstSeq[place]!, directory.rows[place]!);
  }

  /** Stores the explicit ids of a new block. */
  put(table: Table, firstSeq: number, rows: number, ids: IdKeys, { kept, renamed }: Unrepeated): void {
    if (ids.order.length === 0) return;
    const seqs = new Float64Array(ids.rows);
    for (let row = 0; row < rows; row++)
      if (!renamed.has(row)) seqs[kept === undefined ? row : kept[row]!] = firstSeq + row;
    this.#store.putExplicitIds(table, ids, seqs);
    for (const [row, id] of renamed) if (id !== undefined) this.#store.putExplicitId(table, id, firstSeq + row);
  }

  /** Removes explicit ids of removed blocks from their index, until `isOver` returns true, within a transaction. */
  forget(isOver: () => boolean): void {
    for (;;) {
      const block = this.#store.oldestRetiredBlock();
      if (block === undefined) return;
      const { table, firstSeq } = block;
      const ids = this.#idsOf(block);
      if (ids === undefined) continue;
      const known = this.#forgotten;
      let row = known.table === table && known.firstSeq === firstSeq ? known.rows : 0;
      for (; row < block.rows; row++) {
        if (row % idsPerLook === 0 && isOver()) {
          this.#forgotten = { table, firstSeq, rows: row };
          return;
        }
        const id = ids.text(row);
        if (id !== undefined) this.#store.removeExplicitId(table, id.toLowerCase(), firstSeq + row);
      }
      this.#store.removeRetiredBlock(block);
    }
  }

  /**
   * Returns the ids of a removed block. If the ids are damaged, the remains of the block are removed, and its ids
   * stay in the index.
   */
  #idsOf(block: EventBlock): TextColumn | undefined {
    try {
      return block.texts('id');
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#store.removeRetiredBlock(block);
      return undefined;
    }
  }
}

/**
 * Checks a sequence from the index of senders' ids, because the index has no checksums.
 *
 * @throws DamagedDataError if the index refers to an event with another id
 */
export function requireId(block: EventBlock, seq: number, id: string): void {
  if (rowId(block, seq - block.firstSeq).toLowerCase() !== id.toLowerCase())
    throw new DamagedDataError(`the index entry of event ${id}`, { table: 'event-ids' });
}

/** Returns whether this service gave the id to an event that is no longer stored. */
export function isPast(table: Table, state: TableState, id: string): boolean {
  const made = parseEventId(id);
  return made !== undefined && made.table === table && made.seq > 0 && made.seq < firstSeqOf(state);
}
