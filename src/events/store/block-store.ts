import { type Database, isReadOnly, ownBytes, type RootDatabase, tableBytes } from '../../database/lmdb.ts';
import { DamagedDataError, entryCount, openRows, type Rows, viewOf } from '../../database/rows.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { writeUuid } from '../../uuid.ts';
import { EventBlock as Block, type EventBlock, partStarts } from '../format/block.ts';
import { aligned, BlockHeader, encodings } from '../format/block-format.ts';
import { columnIndex, columnNames, tables } from '../format/columns.ts';
import type { Table } from '../records.ts';
import { DamagedBlockError, type DamagedRange, type RangeRow } from './damaged-range.ts';
import { HeaderCache } from './header-cache.ts';
import type { IdKeys } from './id-keys.ts';
import { hasSeals, StoredHeader, withSeals } from './stored-header.ts';

/** Counters of a table, changed in the same transaction as its blocks. */
export interface TableState {
  /** The sequence of the next row; the first row has sequence 1. */
  readonly next_seq: number;
  /** Number of stored rows. */
  readonly rows: number;
  /** Number of stored blocks. */
  readonly blocks: number;
  readonly bytes: number;
  /** Increases whenever blocks are replaced. Readers must then read the headers in `replaced` again. */
  readonly generation: number;
  /**
   * Rows whose blocks were replaced: one range for each of the latest generations, newest last. Absent in files of
   * earlier versions.
   */
  readonly replaced?: readonly Replaced[];
  /**
   * First stored sequence: earlier rows were removed by retention. Absent means 1, as in files of earlier
   * versions.
   */
  readonly first_seq?: number;
}

/**
 * Range [first, end) of the sequences of rows whose blocks were replaced. Earlier versions stored only the first
 * sequence: any later block may have been replaced.
 */
export type Replaced = readonly [first: number, end: number] | number;

const empty: TableState = { next_seq: 1, rows: 0, blocks: 0, bytes: 0, generation: 0 };

/** Returns the state after the blocks of rows [first, end) were replaced. */
const replacing = (state: TableState, first: number, end: number): TableState => ({
  ...state,
  generation: state.generation + 1,
  replaced: [...(state.replaced ?? []), [first, end] as const].slice(-limits.toldMerges),
});

/** Returns the first stored sequence. */
export const firstSeqOf = ({ first_seq = 1 }: TableState): number => first_seq;

/**
 * Blocks in LMDB. Each part of a column is a separate value, so that a query reads only the columns that it
 * names:
 *
 * ```
 * event-headers  [table, first_seq]        → header with checksums (stored-header.ts)
 * event-parts    [table, first_seq, part]  → bytes; part is 2 × column, + 1 for its dictionary
 * event-ids      table and UUID, 17 bytes  → sequence, f64
 * event-leavings [table, first_seq]        → header of a removed block, while its explicit ids are in `event-ids`
 * event-state    table                     → TableState as JSON
 * event-damage   [table, first_seq]        → a range of events that is damaged and left out (damaged-range.ts)
 * ```
 *
 * Headers and parts are verified when they are read. If the header of a block is cached, each part of the block is
 * verified once in `limits.reverifyMs`. A CRC-32 of each part on each read would double the time of a filter that reads
 * two columns.
 *
 * Explicit ids are scattered over their index: removing the ids of one block writes up to 8,160 pages.
 * Therefore a block is removed immediately except for its id column, and its ids are removed from the index
 * gradually.
 */
export class BlockStore {
  readonly #cancelled: () => boolean;
  readonly #env: RootDatabase;
  readonly #headers: Database<Buffer, number[]>;
  readonly #parts: Database<Buffer, number[]>;
  readonly #ids: Database<Buffer, Uint8Array>;
  /**
   * Remains of removed blocks. Undefined if the file was written by a version without retention and is opened for
   * reading.
   */
  readonly #retiredBlocks: Database<Buffer, number[]> | undefined;
  readonly #state: Rows<TableState, number>;
  /** Damaged ranges. Undefined if the file was written by an earlier version and is opened for reading. */
  readonly #damage: Rows<RangeRow, number[]> | undefined;
  /** Damaged ranges that were found in a file opened for reading. */
  readonly #found = new Map<string, RangeRow>();
  /** Tables whose ids were found in the index. */
  readonly #withIds = new Set<Table>();
  #verifiedSince = 0;
  #epoch = 0;
  #kept = new HeaderCache();
  readonly #shelf = new ScratchBuffer();
  readonly #shelve = (bytes: Uint8Array) => this.#shelf.put(bytes);

  /** @param cancelled - polled before each block; when true, reading ends with CANCELLED */
  constructor(env: RootDatabase, cancelled: () => boolean = () => false) {
    this.#env = env;
    this.#cancelled = cancelled;
    this.#headers = env.openDB({ name: 'event-headers', encoding: 'binary' });
    this.#parts = env.openDB({ name: 'event-parts', encoding: 'binary' });
    this.#ids = env.openDB({ name: 'event-ids', encoding: 'binary', keyEncoding: 'binary' });
    this.#retiredBlocks = env.openDB({ name: 'event-leavings', encoding: 'binary' });
    this.#state = openRows(env, 'event-state', 'json');
    this.#damage = openRows(env, 'event-damage');
  }

  /** Moves to the newest snapshot for all reads until the next call. */
  refresh(): void {
    this.#env.resetReadTxn();
    if (performance.now() - this.#verifiedSince < limits.reverifyMs) return;
    this.#verifiedSince = performance.now();
    this.#epoch++;
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

  /**
   * Yields the headers of the intact blocks of rows [from, to), ascending. Blocks must begin at `from` and at `to`. The
   * cached headers of these blocks are dropped.
   *
   * @throws DamagedBlockError if a header is damaged or missing and was not set aside
   */
  *headers(
    table: Table,
    from: number,
    to = Number.POSITIVE_INFINITY,
  ): Generator<{ firstSeq: number; header: BlockHeader }> {
    const code = tables.indexOf(table);
    const state = this.state(table);
    const aside = new Map(this.damage(table).map(({ firstSeq, rows }) => [firstSeq, firstSeq + rows]));
    let next = Math.max(from, firstSeqOf(state));
    const skip = () => {
      for (let end = aside.get(next); end !== undefined; end = aside.get(next)) next = end;
    };
    for (const { key, value } of this.#headers.getRange({ start: [code, next], end: [code, to] })) {
      const firstSeq = key[1]!;
      // The cached header may be of an earlier block that began here and had other bytes.
      this.#kept.drop(table, firstSeq);
      skip();
      if (firstSeq < next) continue; // in a range that was set aside
      if (firstSeq > next) throw this.#missing(table, next, firstSeq);
      const header = StoredHeader.open(table, firstSeq, ownBytes(value));
      next += header.rows;
      yield { firstSeq, header };
    }
    skip();
    const end = Math.min(to, state.next_seq);
    if (next < end) throw this.#missing(table, next, end);
  }

  /**
   * Returns the first sequence of the stored block that contains a sequence. A merge may have changed the
   * block's start. Returns the sequence itself if no block contains it.
   */
  startOf(table: Table, seq: number): number {
    const code = tables.indexOf(table);
    const before = { start: [code, seq], end: [code, 0], reverse: true, limit: 1 };
    const aside = new Set(this.damage(table).map(({ firstSeq }) => firstSeq));
    for (const { key, value } of this.#headers.getRange(before)) {
      const start = key[1]!;
      if (key[0] === code && aside.has(start)) return seq; // the header of this block may be damaged
      const { rows } = StoredHeader.open(table, start, ownBytes(value));
      if (key[0] === code && start + rows > seq) return start;
    }
    return seq;
  }

  /** True if any block was ever set aside. */
  get hasDamage(): boolean {
    return this.#damage !== undefined && entryCount(this.#damage) > 0;
  }

  /**
   * Returns the damaged ranges of events that reads skip: stored ranges in ascending order, then ranges found since the
   * file was opened read-only. Ranges that retention removed are not returned.
   */
  damage(table: Table): DamagedRange[] {
    if (this.#found.size === 0 && !this.hasDamage) return [];
    const code = tables.indexOf(table);
    const first = firstSeqOf(this.state(table));
    const rows = [...(this.#damage?.getRange() ?? [])];
    const found = [...this.#found].map(([key, value]) => ({ key: key.split(',').map(Number), value }));
    return [...rows, ...found]
      .filter(({ key, value }) => key[0] === code && key[1]! + value.rows > first)
      .map(({ key, value }) => ({ ...value, table, firstSeq: key[1]! }));
  }

  /**
   * Excludes a damaged block from all reads. In a file opened for writing, the transaction stores the exclusion;
   * otherwise, the exclusion lasts while the file is open. The bytes stay until retention removes the neighbouring
   * blocks.
   */
  setAside(table: Table, firstSeq: number, what: string): void {
    const code = tables.indexOf(table);
    const state = this.state(table);
    let end = state.next_seq;
    for (const [, next] of this.#headers.getKeys({
      start: [code, firstSeq + 1],
      end: [code + 1],
      limit: 1,
    }))
      end = Math.min(end, next!);
    const range: RangeRow = {
      rows: end - firstSeq,
      found_at: Date.now(),
      what,
      ...this.#times(table, firstSeq),
    };
    this.forget();
    if (isReadOnly(this.#env)) {
      this.#found.set(`${code},${firstSeq}`, range);
      return;
    }
    const bytes = this.#headers.getBinaryFast([code, firstSeq]);
    this.#damage!.putSync([code, firstSeq], range);
    this.putState(table, {
      ...replacing(state, firstSeq, end),
      rows: state.rows - range.rows,
      blocks: state.blocks - (bytes === undefined ? 0 : 1),
    });
  }

  /** Returns the times of the events of a damaged block; empty if the header is damaged as well. */
  #times(table: Table, firstSeq: number): Pick<RangeRow, 'from' | 'to'> {
    try {
      const { minTime, maxTime } = StoredHeader.open(table, firstSeq, ownBytes(this.#header(table, firstSeq)));
      return { from: minTime, to: maxTime };
    } catch {
      return {};
    }
  }

  #missing(table: Table, from: number, to: number): DamagedBlockError {
    return new DamagedBlockError(table, from, `the header of ${to - from} events is missing`);
  }

  /** Stores a whole new block. */
  put(firstSeq: number, buffer: ArrayBuffer): void {
    const bytes = new Uint8Array(buffer);
    const header = new BlockHeader(bytes);
    const code = tables.indexOf(header.table);
    const starts = partStarts(header);
    const parts: Uint8Array[] = [];
    eachPart(header, (part, length) => {
      parts[part] = Buffer.from(buffer, starts[part]!, length);
      this.#parts.putSync([code, firstSeq, part], parts[part] as Buffer);
    });
    this.#headers.putSync(
      [code, firstSeq],
      withSeals(firstSeq, header, (part) => parts[part]),
    );
  }

  /**
   * Reads all parts of a block. If the file is opened for writing, a block of an earlier version gets its
   * checksums.
   *
   * @throws DamagedBlockError
   */
  verify(table: Table, firstSeq: number): EventBlock {
    const header = StoredHeader.open(table, firstSeq, ownBytes(this.#header(table, firstSeq)));
    const code = tables.indexOf(table);
    const parts: Uint8Array[] = [];
    eachPart(header, (part) => {
      parts[part] = this.#part(header, firstSeq, part, ownBytes);
    });
    if (!hasSeals(header) && !isReadOnly(this.#env))
      this.#headers.putSync(
        [code, firstSeq],
        withSeals(firstSeq, header, (part) => parts[part]),
      );
    return new Block(header, firstSeq, (column, kind) => parts[2 * column + (kind === 'codes' ? 0 : 1)]!);
  }

  /**
   * Replaces adjacent blocks with new blocks that have the same rows in the same order. Must be called in a
   * transaction.
   *
   * @param old - blocks that were not opened by `openBorrowed`
   */
  replace(old: readonly EventBlock[], blocks: readonly ArrayBuffer[]): void {
    const { table, firstSeq } = old[0]!;
    const state = this.state(table);
    let { bytes } = state;
    for (const block of old) {
      this.remove(block.firstSeq, block.header);
      bytes -= storedBytes(block.header);
    }
    let end = firstSeq;
    for (const buffer of blocks) {
      this.put(end, buffer);
      const header = new BlockHeader(new Uint8Array(buffer));
      bytes += storedBytes(header);
      end += header.rows;
    }
    const count = state.blocks - old.length + blocks.length;
    this.putState(table, { ...replacing(state, firstSeq, end), blocks: count, bytes });
  }

  remove(firstSeq: number, header: BlockHeader): void {
    const code = tables.indexOf(header.table);
    this.#headers.removeSync([code, firstSeq]);
    eachPart(header, (part) => void this.#parts.removeSync([code, firstSeq, part]));
  }

  /**
   * Opens a stored block.
   *
   * @param rows - size of the block in the directory, for comparison: a merge may have stored a larger block at this
   *   sequence
   */
  open(table: Table, firstSeq: number, rows: number): EventBlock {
    this.#goOn();
    const header = StoredHeader.open(table, firstSeq, ownBytes(this.#header(table, firstSeq)));
    return this.#opened(firstSeq, expected(header, rows));
  }

  /**
   * Like `open`, but the block is valid only until the next call, which reuses its memory. A query reads thousands of
   * blocks; allocating memory for their parts would take half of the query's time.
   */
  openBorrowed(table: Table, firstSeq: number, rows: number): EventBlock {
    this.#goOn();
    this.#shelf.clear();
    let header = this.#kept.get(table, firstSeq);
    if (header?.rows !== rows) {
      const bytes = this.#shelf.put(this.#header(table, firstSeq));
      header = this.#kept.put(table, firstSeq, StoredHeader.open(table, firstSeq, bytes));
    }
    return this.#opened(firstSeq, expected(header, rows), this.#shelve);
  }

  #goOn(): void {
    if (this.#cancelled()) throw new ServiceError('CANCELLED', 'this query was cancelled');
  }

  /** Reads a header. The bytes are valid until the next read. */
  #header(table: Table, firstSeq: number): Uint8Array {
    const bytes = this.#headers.getBinaryFast([tables.indexOf(table), firstSeq]);
    if (bytes === undefined) throw new DamagedBlockError(table, firstSeq, 'its header is missing');
    return bytes;
  }

  #opened(firstSeq: number, header: StoredHeader, keep = ownBytes): EventBlock {
    return new Block(header, firstSeq, (column, kind) =>
      this.#part(header, firstSeq, 2 * column + (kind === 'codes' ? 0 : 1), keep),
    );
  }

  #part(header: StoredHeader, firstSeq: number, part: number, keep: typeof ownBytes): Uint8Array {
    const bytes = this.#parts.getBinaryFast([tables.indexOf(header.table), firstSeq, part]);
    const kept = bytes && keep(bytes);
    if (kept === undefined || !header.verifies(part, kept, this.#epoch))
      throw new DamagedBlockError(
        header.table,
        firstSeq,
        `part ${part} is ${kept === undefined ? 'missing' : 'damaged'}`,
      );
    return kept;
  }

  /** Removes a block except for its explicit ids. Explicit ids remain readable through `retiredBlocks`. */
  retire(firstSeq: number, header: BlockHeader): void {
    const code = tables.indexOf(header.table);
    const value = Buffer.from(viewOf(this.#header(header.table, firstSeq)));
    this.#headers.removeSync([code, firstSeq]);
    const kept = header.encoding(idColumn) === encodings.absent ? [] : idParts;
    eachPart(header, (part) => {
      if (!kept.includes(part)) this.#parts.removeSync([code, firstSeq, part]);
    });
    if (kept.length > 0) this.#retiredBlocks!.putSync([code, firstSeq], value);
  }

  /** Removes the stored data of ranges that were set aside and end at or before a sequence. */
  removeDamaged(table: Table, before: number): void {
    const code = tables.indexOf(table);
    for (const { firstSeq, rows } of this.damage(table)) {
      if (firstSeq + rows > before) continue;
      this.#headers.removeSync([code, firstSeq]);
      const span = { start: [code, firstSeq], end: [code, firstSeq + rows] };
      for (const key of [...this.#parts.getKeys(span)]) this.#parts.removeSync(key);
    }
  }

  /** Yields the remains of retired blocks, oldest first per table. Only their id columns can be read. */
  *retiredBlocks(limit?: number): Generator<EventBlock> {
    for (const { key, value } of this.#retiredBlocks?.getRange(limit === undefined ? {} : { limit }) ?? [])
      yield this.#opened(key[1]!, StoredHeader.open(tables[key[0]!]!, key[1]!, ownBytes(value)));
  }

  retiredBlockCount(): number {
    return this.#retiredBlocks === undefined ? 0 : entryCount(this.#retiredBlocks);
  }

  oldestRetiredBlock(): EventBlock | undefined {
    const [block] = [...this.retiredBlocks(1)];
    return block;
  }

  /** Removes the remains of a retired block, once its ids are no longer in the index. */
  removeRetiredBlock({ firstSeq, header }: EventBlock): void {
    const code = tables.indexOf(header.table);
    for (const part of idParts) this.#parts.removeSync([code, firstSeq, part]);
    this.#retiredBlocks!.removeSync([code, firstSeq]);
  }

  /** Counts all stored parts, and all explicit ids in the index. */
  counts(): { readonly parts: number; readonly ids: number } {
    return { parts: entryCount(this.#parts), ids: entryCount(this.#ids) };
  }

  /**
   * Returns the bytes on disk, in whole pages, of blocks, of remains of retired blocks, and of the index of
   * explicit ids.
   */
  diskBytes(): number {
    return this.databases.reduce((sum, db) => sum + tableBytes(db), 0);
  }

  get databases(): readonly Pick<Database, 'getStats'>[] {
    return [this.#headers, this.#parts, this.#ids, this.#retiredBlocks!, this.#state, this.#damage!];
  }

  /**
   * Returns the approximate number of bytes of the pages that change when a transaction stores new explicit ids: each
   * id may change a separate page, until all pages have changed.
   */
  idPagesBytes(ids: number): number {
    return ids === 0 ? 0 : Math.min(pageBytes * ids, tableBytes(this.#ids) + idEntryBytes * ids);
  }

  /** Drops all cached headers: some may be of blocks that an aborted transaction stored. */
  forget(): void {
    this.#kept = new HeaderCache();
  }

  explicitId(table: Table, uuid: string): number | undefined {
    return this.#indexed(idKey(table, uuid));
  }

  putExplicitId(table: Table, uuid: string, seq: number): void {
    this.#index(idKey(table, uuid), seq);
  }

  /**
   * Returns for each row the sequence of the event that has the row's id; 0 if no event has it. Returns undefined if no
   * row's id is in the index of the table.
   */
  explicitIds(table: Table, ids: IdKeys): Float64Array | undefined {
    if (ids.order.length === 0 || !this.#mayHaveIds(table)) return undefined;
    const code = tables.indexOf(table);
    let found: Float64Array | undefined;
    for (const row of ids.order) {
      const seq = this.#indexed(rowKey(code, ids, row));
      if (seq === undefined) continue;
      found ??= new Float64Array(ids.rows);
      found[row] = seq;
    }
    return found;
  }

  /**
   * Returns whether the index may have ids of a table; false is certain. Saves searches for ids, because often only one
   * table has ids.
   */
  #mayHaveIds(table: Table): boolean {
    const code = tables.indexOf(table);
    const range = { start: Buffer.of(code), end: Buffer.of(code + 1), limit: 1 };
    if (!this.#withIds.has(table)) for (const _ of this.#ids.getKeys(range)) this.#withIds.add(table);
    return this.#withIds.has(table);
  }

  /** Stores the ids of rows in the index. Omits rows with sequence 0. */
  putExplicitIds(table: Table, ids: IdKeys, seqs: Float64Array): void {
    const code = tables.indexOf(table);
    for (const row of ids.order) if (seqs[row]! > 0) this.#index(rowKey(code, ids, row), seqs[row]!);
  }

  #indexed(key: Buffer): number | undefined {
    return this.#ids.getBinaryFast(key)?.readDoubleLE(0);
  }

  #index(key: Buffer, seq: number): void {
    idValue.writeDoubleLE(seq);
    this.#ids.putSync(key, idValue);
  }

  /**
   * Finds the explicit ids of a block that the index does not map to their events. Stores them in the index again if
   * the file is opened for writing. Returns these ids.
   */
  mendIds(block: EventBlock): string[] {
    const { table } = block;
    const lost = [...explicitIdsOf(block)].filter(({ id, seq }) => this.explicitId(table, id) !== seq);
    if (!isReadOnly(this.#env)) for (const { id, seq } of lost) this.putExplicitId(table, id, seq);
    return lost.map(({ id }) => id);
  }

  /** Removes the id, unless it now belongs to another event. */
  removeExplicitId(table: Table, uuid: string, seq: number): void {
    const key = idKey(table, uuid);
    if (this.#indexed(key) === seq) this.#ids.removeSync(key);
  }
}

/** Yields the ids that senders gave the events of a block, in lower case as in the index, and the events' sequences. */
export function* explicitIdsOf(block: EventBlock): Generator<{ readonly id: string; readonly seq: number }> {
  const ids = block.texts('id');
  if (ids.list.length === 0) return;
  for (let row = 0; row < block.rows; row++) {
    const id = ids.text(row)?.toLowerCase();
    if (id !== undefined) yield { id, seq: block.firstSeq + row };
  }
}

/** The column `id` is the first column in both tables. */
const idColumn = columnIndex.network.get('id')!;
const idParts: readonly number[] = [2 * idColumn, 2 * idColumn + 1];

/** Size of an LMDB page, except on systems with larger memory pages. */
const pageBytes = 4096;
/** Maximum size of an entry in the index of explicit ids. The pages of the index are at least half full. */
const idEntryBytes = 72;

/** Returns the number of explicit ids in a block, from the size of their texts: each text has 36 bytes. */
export function explicitIdCount(header: BlockHeader): number {
  if (header.encoding(idColumn) === encodings.absent) return 0;
  return (header.dictionaryBytes(idColumn) - 4 * (header.entries(idColumn) + 1)) / 36;
}

/** Returns the size of a block as stored. */
export function storedBytes(header: BlockHeader): number {
  let bytes = header.bytes.byteLength;
  eachPart(header, (_, length) => {
    bytes += length;
  });
  return bytes;
}

/** Counts the parts of a block. */
export function partsOf(header: BlockHeader): number {
  let parts = 0;
  eachPart(header, () => {
    parts++;
  });
  return parts;
}

/** Counts the parts that remain of a retired block. */
export function idPartsOf(header: BlockHeader): number {
  return Math.sign(header.codesBytes(idColumn)) + Math.sign(header.dictionaryBytes(idColumn));
}

function eachPart(header: BlockHeader, visit: (part: number, length: number) => void): void {
  for (let column = 0; column < columnNames[header.table].length; column++) {
    if (header.codesBytes(column) > 0) visit(2 * column, header.codesBytes(column));
    if (header.dictionaryBytes(column) > 0) visit(2 * column + 1, header.dictionaryBytes(column));
  }
}

// Reused for each explicit id (key and value) and each UUID text, because LMDB copies keys and values.
const scratchKey = Buffer.alloc(17);
const idValue = Buffer.alloc(8);
const uuidText = Buffer.alloc(36);

/** Returns the key of an id in the index, valid until the next call. */
function idKey(table: Table, uuid: string): Buffer {
  uuidText.fill(0, uuidText.write(uuid, 'latin1'));
  scratchKey[0] = tables.indexOf(table);
  writeUuid(scratchKey, 1, uuidText, 0);
  return scratchKey;
}

/** Like `idKey`, for the id of a row. */
function rowKey(table: number, ids: IdKeys, row: number): Buffer {
  scratchKey[0] = table;
  ids.write(row, scratchKey, 1);
  return scratchKey;
}

/**
 * Size of the scratch buffer. All columns of a block of 8,160 events take at most 0.7 MB, unless senders use long
 * values; a query reads only some columns.
 */
const shelfBytes = 2 ** 20;

/** Reusable memory for the parts of one block, allocated on first use. */
class ScratchBuffer {
  #bytes = new Uint8Array(0);
  #used = 0;

  clear(): void {
    this.#used = 0;
  }

  /** Copies bytes; the copy is valid until `clear`. Allocates a separate buffer if there is no room. */
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

function expected(header: StoredHeader, rows: number): StoredHeader {
  if (header.rows !== rows) throw new DamagedDataError(`a block has ${header.rows} events instead of ${rows}`);
  return header;
}
