import { ServiceError } from '../../errors.ts';
import { EventBlock as Block, type EventBlock, partStarts } from '../../events/block.ts';
import { aligned, BlockHeader, encodings } from '../../events/block-format.ts';
import { columnIndex, columnNames, tables } from '../../events/columns.ts';
import type { Table } from '../../events/records.ts';
import { type Database, ownBytes, type RootDatabase, tableBytes } from '../../lmdb.ts';
import { KeptHeaders } from './kept-headers.ts';
import { entryCount } from './tables.ts';

/** What is counted of a table, in the same transaction as its blocks. */
export interface TableState {
  /** The sequence that the next row gets; the first ever is 1. */
  readonly next_seq: number;
  /** Rows and blocks stored, and their bytes before LMDB rounds up to pages. */
  readonly rows: number;
  readonly blocks: number;
  readonly bytes: number;
  /** Grows whenever blocks are put in the place of others: what readers know of them must be read again. */
  readonly generation: number;
  /**
   * From which sequence on there are others since each of the latest generations, the newest last; of older ones that isn't
   * known. Absent in files from before it was kept.
   */
  readonly replaced?: readonly number[];
  /** Rows before it are no longer stored: the oldest blocks went. Absent, as in files from before any did: 1. */
  readonly first_seq?: number;
}

const empty: TableState = { next_seq: 1, rows: 0, blocks: 0, bytes: 0, generation: 0 };

/** The sequence from which on rows are stored. */
export const firstSeqOf = ({ first_seq = 1 }: TableState): number => first_seq;

/**
 * Blocks in LMDB. Each part of a column is a value of its own, so that a query reads only what it names:
 *
 * ```
 * event-headers  [table, first_seq]        → header
 * event-parts    [table, first_seq, part]  → bytes; part is 2 × column, + 1 for its dictionary
 * event-ids      table and UUID, 17 bytes  → sequence, f64
 * event-leavings [table, first_seq]        → header of a block that went, while explicit ids of it are in `event-ids`
 * event-state    table                     → TableState as JSON
 * ```
 *
 * Explicit ids lie all over their index: taking out those of one block writes up to 8,160 pages. So a block goes at
 * once, its column of ids is left, and the index forgets them some at a time.
 */
export class BlockStore {
  readonly #cancelled: () => boolean;
  readonly #env: RootDatabase;
  readonly #headers: Database<Buffer, number[]>;
  readonly #parts: Database<Buffer, number[]>;
  readonly #ids: Database<Buffer, Uint8Array>;
  /** Undefined in a file from before there was retention, opened for reading. */
  readonly #leavings: Database<Buffer, number[]> | undefined;
  readonly #state: Database<TableState, number>;
  #kept = new KeptHeaders();
  readonly #shelf = new Shelf();
  readonly #shelve = (bytes: Uint8Array) => this.#shelf.put(bytes);

  /** @param cancelled - asked before each block; once true, reading ends with CANCELLED */
  constructor(env: RootDatabase, cancelled: () => boolean = () => false) {
    this.#env = env;
    this.#cancelled = cancelled;
    this.#headers = env.openDB({ name: 'event-headers', encoding: 'binary' });
    this.#parts = env.openDB({ name: 'event-parts', encoding: 'binary' });
    this.#ids = env.openDB({ name: 'event-ids', encoding: 'binary', keyEncoding: 'binary' });
    this.#leavings = env.openDB({ name: 'event-leavings', encoding: 'binary' });
    this.#state = env.openDB({ name: 'event-state', encoding: 'json' });
  }

  /** Reads that follow, until the next call, see the newest snapshot. */
  refresh(): void {
    this.#env.resetReadTxn();
  }

  transaction<T>(change: () => T): T {
    return this.#env.transactionSync(change);
  }

  state(table: Table): TableState {
    return this.#state.get(tables.indexOf(table)) ?? empty;
  }

  putState(table: Table, state: TableState): void {
    this.#state.putSync(tables.indexOf(table), state);
  }

  /** Headers of blocks from a sequence on, ascending. */
  *headers(table: Table, from: number): Generator<{ firstSeq: number; header: BlockHeader }> {
    const code = tables.indexOf(table);
    for (const { key, value } of this.#headers.getRange({ start: [code, from], end: [code + 1] })) {
      yield { firstSeq: key[1]!, header: new BlockHeader(ownBytes(value)) };
    }
  }

  /** Stores a whole block, of which nothing is there yet. */
  put(firstSeq: number, buffer: ArrayBuffer): void {
    const bytes = new Uint8Array(buffer);
    const header = new BlockHeader(bytes);
    const code = tables.indexOf(header.table);
    const starts = partStarts(header);
    this.#headers.putSync([code, firstSeq], Buffer.from(buffer, 0, header.bytes.byteLength));
    eachPart(header, (part, length) => {
      this.#parts.putSync([code, firstSeq, part], Buffer.from(buffer, starts[part]!, length));
    });
  }

  /** The first part of a block that isn't there in the length that its header says; undefined where all are. */
  damagedPart(firstSeq: number, header: BlockHeader): number | undefined {
    const code = tables.indexOf(header.table);
    let damaged: number | undefined;
    eachPart(header, (part, length) => {
      if (this.#parts.getBinaryFast([code, firstSeq, part])?.length !== length) damaged ??= part;
    });
    return damaged;
  }

  remove(firstSeq: number, header: BlockHeader): void {
    const code = tables.indexOf(header.table);
    this.#headers.removeSync([code, firstSeq]);
    eachPart(header, (part) => void this.#parts.removeSync([code, firstSeq, part]));
  }

  /** A stored block. `rows` is what the directory says of it: a merge may have put a larger block at the same place. */
  open(table: Table, firstSeq: number, rows: number): EventBlock {
    this.#goOn();
    return this.#opened(firstSeq, expected(new BlockHeader(ownBytes(this.#header(table, firstSeq))), rows));
  }

  /**
   * The same block, but good only until the next that is looked at: what is read of it lies where that of the last one
   * lay. A query looks at thousands; half of its time went into memory for their parts.
   */
  look(table: Table, firstSeq: number, rows: number): EventBlock {
    this.#goOn();
    this.#shelf.clear();
    let header = this.#kept.get(table, firstSeq);
    if (header?.rows !== rows) {
      const bytes = this.#header(table, firstSeq);
      header = this.#kept.put(table, firstSeq, bytes) ?? new BlockHeader(this.#shelf.put(bytes));
    }
    return this.#opened(firstSeq, expected(header, rows), this.#shelve);
  }

  #goOn(): void {
    if (this.#cancelled()) throw new ServiceError('CANCELLED', 'nobody waits for this query any more');
  }

  /** Good until the next read. */
  #header(table: Table, firstSeq: number): Uint8Array {
    const bytes = this.#headers.getBinaryFast([tables.indexOf(table), firstSeq]);
    if (bytes === undefined) throw new Error(`block ${firstSeq} of ${table} events is missing`);
    return bytes;
  }

  #opened(firstSeq: number, header: BlockHeader, keep = ownBytes): EventBlock {
    const { table } = header;
    const code = tables.indexOf(table);
    return new Block(header, firstSeq, (column, kind) => {
      const part = 2 * column + (kind === 'codes' ? 0 : 1);
      const bytes = this.#parts.getBinaryFast([code, firstSeq, part]);
      if (bytes === undefined)
        throw new Error(`part ${part} of block ${firstSeq} of ${table} events is missing`);
      return keep(bytes);
    });
  }

  /** Removes a block but for its explicit ids, where it has some: `leavings` has those. */
  retire(firstSeq: number, header: BlockHeader): void {
    const code = tables.indexOf(header.table);
    this.#headers.removeSync([code, firstSeq]);
    const kept = header.encoding(idColumn) === encodings.absent ? [] : idParts;
    eachPart(header, (part) => {
      if (!kept.includes(part)) this.#parts.removeSync([code, firstSeq, part]);
    });
    if (kept.length > 0) this.#leavings!.putSync([code, firstSeq], Buffer.from(header.bytes));
  }

  /** What is left of blocks that were retired, oldest first of each table: of their columns only the ids can be read. */
  *leavings(limit?: number): Generator<EventBlock> {
    for (const { key, value } of this.#leavings?.getRange(limit === undefined ? {} : { limit }) ?? [])
      yield this.#opened(key[1]!, new BlockHeader(ownBytes(value)));
  }

  leavingsCount(): number {
    return this.#leavings === undefined ? 0 : entryCount(this.#leavings);
  }

  oldestLeavings(): EventBlock | undefined {
    const [block] = [...this.leavings(1)];
    return block;
  }

  /** Removes what was left of a retired block, once the index has its ids no more. */
  removeLeavings({ firstSeq, header }: EventBlock): void {
    const code = tables.indexOf(header.table);
    for (const part of idParts) this.#parts.removeSync([code, firstSeq, part]);
    this.#leavings!.removeSync([code, firstSeq]);
  }

  /** Parts that are stored, and explicit ids in the index, whatever they are of. */
  counts(): { readonly parts: number; readonly ids: number } {
    return { parts: entryCount(this.#parts), ids: entryCount(this.#ids) };
  }

  /** Bytes on disk: of blocks, of what is left of some, and of the index of explicit ids, in whole pages. */
  diskBytes(): number {
    return this.databases.reduce((sum, db) => sum + tableBytes(db), 0);
  }

  get databases(): readonly Pick<Database, 'getStats'>[] {
    return [this.#headers, this.#parts, this.#ids, this.#leavings!, this.#state];
  }

  /** Drops what is kept of blocks that a transaction stored and did not keep. */
  forget(): void {
    this.#kept = new KeptHeaders();
  }

  explicitId(table: Table, uuid: string): number | undefined {
    const value = this.#ids.getBinaryFast(idKey(table, uuid));
    return value?.readDoubleLE(0);
  }

  putExplicitId(table: Table, uuid: string, seq: number): void {
    const value = Buffer.alloc(8);
    value.writeDoubleLE(seq);
    this.#ids.putSync(idKey(table, uuid), value);
  }

  /** Unless another event has it by now. */
  removeExplicitId(table: Table, uuid: string, seq: number): void {
    if (this.explicitId(table, uuid) === seq) this.#ids.removeSync(idKey(table, uuid));
  }
}

/** Both tables have their `id` first. */
const idColumn = columnIndex.network.get('id')!;
const idParts: readonly number[] = [2 * idColumn, 2 * idColumn + 1];

/** Bytes of a block as stored. */
export function storedBytes(header: BlockHeader): number {
  let bytes = header.bytes.byteLength;
  eachPart(header, (_, length) => {
    bytes += length;
  });
  return bytes;
}

/** Parts that a block has. */
export function partsOf(header: BlockHeader): number {
  let parts = 0;
  eachPart(header, () => {
    parts++;
  });
  return parts;
}

/** Those that a retired block leaves. */
export function idPartsOf(header: BlockHeader): number {
  return Math.sign(header.codesBytes(idColumn)) + Math.sign(header.dictionaryBytes(idColumn));
}

function eachPart(header: BlockHeader, visit: (part: number, length: number) => void): void {
  for (let column = 0; column < columnNames[header.table].length; column++) {
    if (header.codesBytes(column) > 0) visit(2 * column, header.codesBytes(column));
    if (header.dictionaryBytes(column) > 0) visit(2 * column + 1, header.dictionaryBytes(column));
  }
}

function idKey(table: Table, uuid: string): Buffer {
  const key = Buffer.alloc(17);
  key[0] = tables.indexOf(table);
  key.write(uuid.replaceAll('-', ''), 1, 'hex');
  return key;
}

/** Of a block of 8,160 events all columns are 0.7 MB at most that senders don't make longer; a query reads some. */
const shelfBytes = 2 ** 20;

/** Memory for the parts of one block at a time, taken when the first is looked at. */
class Shelf {
  #bytes = new Uint8Array(0);
  #used = 0;

  clear(): void {
    this.#used = 0;
  }

  /** A copy that is good until `clear`; in a buffer of its own where there is no room. */
  put(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const from = this.#used;
    const { length } = bytes;
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(shelfBytes);
    if (from + length > this.#bytes.length) return ownBytes(bytes);
    this.#used = aligned(from + length);
    const place = this.#bytes.subarray(from, from + length);
    place.set(new Uint8Array(bytes.buffer, bytes.byteOffset, length));
    return place;
  }
}

function expected(header: BlockHeader, rows: number): BlockHeader {
  if (header.rows !== rows) throw new Error(`a block of ${header.rows} events where ${rows} are expected`);
  return header;
}
