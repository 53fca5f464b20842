import { ServiceError } from '../../errors.ts';
import { EventBlock as Block, type EventBlock, partStarts } from '../../events/block.ts';
import { BlockHeader } from '../../events/block-format.ts';
import { columnNames, tables } from '../../events/columns.ts';
import type { Table } from '../../events/records.ts';
import { limits } from '../../limits.ts';
import type { Database, RootDatabase } from '../../lmdb.ts';

/** What is counted of a table, in the same transaction as its blocks. */
export interface TableState {
  /** The sequence that the next row gets; the first ever is 1. */
  readonly next_seq: number;
  /** Rows and blocks stored, and their bytes before LMDB rounds up to pages. */
  readonly rows: number;
  readonly blocks: number;
  readonly bytes: number;
  /** Grows whenever blocks that were there go or change: what readers know of them must be read again. */
  readonly generation: number;
}

const empty: TableState = { next_seq: 1, rows: 0, blocks: 0, bytes: 0, generation: 0 };

/**
 * Blocks in LMDB. Each part of a column is a value of its own, so that a query reads only what it names:
 *
 * ```
 * event-headers  [table, first_seq]        → header
 * event-parts    [table, first_seq, part]  → bytes; part is 2 × column, + 1 for its dictionary
 * event-ids      table and UUID, 17 bytes  → sequence, f64
 * event-state    table                     → TableState as JSON
 * ```
 */
export class BlockStore {
  readonly #cancelled: () => boolean;
  readonly #env: RootDatabase;
  readonly #headers: Database<Buffer, number[]>;
  readonly #parts: Database<Buffer, number[]>;
  readonly #ids: Database<Buffer, Uint8Array>;
  readonly #state: Database<TableState, number>;
  #cache = new HeaderCache();

  /** @param cancelled - asked before each block; once true, reading ends with CANCELLED */
  constructor(env: RootDatabase, cancelled: () => boolean = () => false) {
    this.#env = env;
    this.#cancelled = cancelled;
    this.#headers = env.openDB({ name: 'event-headers', encoding: 'binary' });
    this.#parts = env.openDB({ name: 'event-parts', encoding: 'binary' });
    this.#ids = env.openDB({ name: 'event-ids', encoding: 'binary', keyEncoding: 'binary' });
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
      yield { firstSeq: key[1]!, header: new BlockHeader(owned(value)) };
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
    this.#cache.drop(header.table, firstSeq);
  }

  /**
   * A stored block. `rows` is what the directory says of it: a merge may have put a larger block at the same place.
   * Good until the next `refresh` or change: large parts are views of the memory map.
   */
  open(table: Table, firstSeq: number, rows: number): EventBlock {
    if (this.#cancelled()) throw new ServiceError('CANCELLED', 'nobody waits for this query any more');
    const code = tables.indexOf(table);
    let header = this.#cache.get(table, firstSeq);
    if (header === undefined || header.rows !== rows) {
      const bytes = this.#headers.getBinaryFast([code, firstSeq]);
      if (bytes === undefined) throw new Error(`block ${firstSeq} of ${table} events is missing`);
      header = new BlockHeader(owned(bytes));
      this.#cache.put(table, firstSeq, header);
    }
    return new Block(header, firstSeq, (column, kind) => {
      const part = 2 * column + (kind === 'codes' ? 0 : 1);
      const bytes = this.#parts.getBinaryFast([code, firstSeq, part]);
      if (bytes === undefined)
        throw new Error(`part ${part} of block ${firstSeq} of ${table} events is missing`);
      return lasting(bytes);
    });
  }

  /** Drops what is cached of blocks that a transaction stored and did not keep. */
  forget(): void {
    this.#cache = new HeaderCache();
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
}

/** Bytes of a block as stored. */
export function storedBytes(header: BlockHeader): number {
  let bytes = header.bytes.byteLength;
  eachPart(header, (_, length) => {
    bytes += length;
  });
  return bytes;
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

/** A copy in a buffer of its own. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length).slice();
}

/**
 * `getBinaryFast` returns small values in one buffer that the next read overwrites (told by `isGlobal`), large ones as
 * a view of the memory map. The first are copied; so is a view that no array of numbers could be laid over.
 */
function lasting(bytes: Buffer & { isGlobal?: boolean }): Uint8Array {
  return bytes.isGlobal === true || bytes.byteOffset % 8 !== 0 ? owned(bytes) : bytes;
}

/** The headers used last, up to a number of bytes. They never change while their block is there. */
class HeaderCache {
  readonly #headers = new Map<string, BlockHeader>();
  #bytes = 0;

  get(table: Table, firstSeq: number): BlockHeader | undefined {
    const key = table + firstSeq;
    const header = this.#headers.get(key);
    if (header !== undefined) {
      this.#headers.delete(key);
      this.#headers.set(key, header);
    }
    return header;
  }

  put(table: Table, firstSeq: number, header: BlockHeader): void {
    this.drop(table, firstSeq);
    this.#headers.set(table + firstSeq, header);
    this.#bytes += header.bytes.byteLength;
    for (const [key, oldest] of this.#headers) {
      if (this.#bytes <= limits.maxHeaderCacheBytes) break;
      this.#headers.delete(key);
      this.#bytes -= oldest.bytes.byteLength;
    }
  }

  drop(table: Table, firstSeq: number): void {
    const header = this.#headers.get(table + firstSeq);
    if (header === undefined) return;
    this.#headers.delete(table + firstSeq);
    this.#bytes -= header.bytes.byteLength;
  }
}
