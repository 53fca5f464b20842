/**
 * ledger.mdb read page by page, without LMDB: for checking and rescuing a file that may be damaged anywhere. LMDB maps
 * a file and follows what it finds there; a flipped bit in a page number then ends the process with SIGSEGV. Here every
 * number is checked before it is followed, nothing is written, not even a lock file, and a table goes on behind a page
 * that can't be read. It is quicker, too: 0.6 µs a row, where the binding takes 2.1.
 *
 * The format is liblmdb/mdb.c's (data version 2, 64-bit, little-endian):
 *
 *     page     0 own number · 8 transaction · 18 flags · 20 end of pointers (u32: pages of an overflow) · 22 start of nodes
 *              24 pointers (u16, from byte 24) … nodes
 *     meta     24 magic · 28 version · 48 page size · 80 + 8 root of free list · 136 root of tables · 144 last page · 152
 *              transaction. Pages 0 and 1, in turn; the one with the larger transaction counts
 *     node     0 u48 child, or u32 size of the value and u16 flags · 6 size of the key · 8 key, then value
 *     value    in place; or (flag 1) 0 first overflow page · 8 its transaction · 16 pages; or (flag 2) a table record
 *     table    4 flags: none (8, keys are integers: the list of free pages) · 6 depth · 32 rows · 40 root
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type Meta, readMetas, readTable, type Table, wholeFile, withoutMeta } from './database-meta.ts';
import {
  headerBytes,
  leafPage,
  maxValueBytes,
  nodeAt,
  number64,
  overflowPage,
  tableValue,
} from './database-page.ts';
import { FilePieces, type Reading } from './file-pieces.ts';
import { lastRowDamage, RowCursor } from './row-cursor.ts';

export type { Table } from './database-meta.ts';

/** Read at once to find where a file's zeros begin. */
const pieceBytes = 65_536;

export interface DatabaseFileOptions extends Reading {
  /**
   * For whoever can tell good rows from bad: pages of the file beyond what its meta page says count, too, for the newer
   * meta page may be torn; and a file without a meta page is taken for pages of 4096 bytes, with stray rows and no tables.
   */
  readonly isRescue?: boolean;
  /** Longer values are damage. Default: what the log's are at most. */
  readonly maxValueBytes?: number;
}

/** The file can't be opened as LMDB's at all. */
export class NotADatabase extends Error {
  override readonly name = 'NotADatabase';
}

/** A page that can't be followed, and so the rows behind it. */
export interface PageDamage {
  readonly table: string;
  readonly page: number;
  readonly what: string;
}

/** An open file. Owner of its descriptor. */
export class DatabaseFile {
  readonly path: string;
  readonly pageBytes: number;
  readonly maxValueBytes: number;
  /** Without pages of zeros at the end: a file that was cut short is filled up with them before LMDB maps it (lmdb.ts). */
  readonly fileBytes: number;
  /** Which of the two meta pages can't be read: after a torn write, one. */
  readonly tornMeta: 0 | 1 | undefined;
  /** Whether the meta pages are of two transactions in a row, each on the page of its turn; or the whole one is, alone. */
  readonly areMetasInStep: boolean;
  readonly #sizeOnDisk: number;
  readonly #meta: Meta;
  readonly #pieces: FilePieces;

  /** @throws NotADatabase; or the system's error where the file can't be read at all. */
  constructor(path: string, options: DatabaseFileOptions = {}) {
    const { isRescue = false, maxValueBytes: longest = maxValueBytes, ...reading } = options;
    this.path = path;
    this.maxValueBytes = longest;
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      this.#sizeOnDisk = size;
      const found = readMetas(file, size) ?? (isRescue ? withoutMeta() : undefined);
      if (found === undefined)
        throw new NotADatabase(size === 0 ? 'it is empty' : 'neither of its meta pages can be read');
      this.pageBytes = found.pageBytes;
      this.fileBytes = writtenBytes(file, size, found.pageBytes);
      this.areMetasInStep = found.areInStep;
      this.#meta = isRescue ? wholeFile(found, this.fileBytes) : found.meta;
      this.tornMeta = found.torn;
    } finally {
      closeSync(file);
    }
    this.#pieces = new FilePieces(path, this.fileBytes, reading);
  }

  close(): void {
    this.#pieces.close();
  }

  /** Pages that the meta page counts and the file no longer has. LMDB leaves free ones off, so these need not be in use. */
  get missingPages(): number {
    return Math.max(0, this.#meta.lastPage + 1 - Math.floor(this.fileBytes / this.pageBytes));
  }

  get pages(): number {
    return this.#meta.lastPage + 1;
  }

  /** LMDB's own list of free pages. */
  get freeList(): Table {
    return this.#meta.free;
  }

  /** The named tables. What can't be read is told to `onDamage`. */
  tables(onDamage: (damage: PageDamage) => void): Map<string, Table> {
    const found = new Map<string, Table>();
    const cursor = new RowCursor(this, this.#meta.tables, onDamage);
    while (cursor.next()) {
      if (!cursor.isTable) continue;
      const name = cursor.key().toString('latin1').replace(/\0$/, '');
      const record = cursor.value();
      if (record.readUInt16LE(4) === 0) found.set(name, readTable(name, record, 0));
      else
        onDamage({
          table: name,
          page: this.#meta.tables.root ?? 0,
          what: 'its record has flags that it never had',
        });
    }
    return found;
  }

  /**
   * Whether the end that the file lacks was in use: LMDB leaves free pages off, and those are in no table. Walks every
   * table, 1 s for a GB.
   */
  lacksPagesInUse(): boolean {
    let found = false;
    const onDamage = ({ page }: PageDamage) => {
      found ||= (page + 1) * this.pageBytes > this.fileBytes;
    };
    for (const table of [this.#meta.free, ...this.tables(onDamage).values()]) {
      const rows = new RowCursor(this, table, onDamage);
      while (!found && rows.next());
    }
    return found;
  }

  /** What can't be followed on the way to the first and the last row of each table; all of the list of free pages. */
  checkEdges(): PageDamage | undefined {
    let damaged: PageDamage | undefined;
    const onDamage = (damage: PageDamage) => {
      damaged ??= damage;
    };
    const free = new RowCursor(this, this.#meta.free, onDamage);
    while (free.next());
    for (const table of this.tables(onDamage).values()) {
      new RowCursor(this, table, onDamage).next();
      damaged ??= lastRowDamage(this, table);
    }
    return damaged;
  }

  /** Why page `n` can't be followed as one of `kind`; undefined when it can. Copies the page into `into`. */
  loadPage(n: number, kind: number, into: Buffer): string | undefined {
    if (!(n > 1 && n <= this.#meta.lastPage)) return `there is no page ${n}`;
    if ((n + 1) * this.pageBytes > this.fileBytes) return 'it lies beyond the end of the file';
    const failed = this.#pieces.copy(n * this.pageBytes, into, this.pageBytes);
    if (failed !== undefined) return failed;
    if (number64(into, 0) !== n) return 'it holds something else';
    if (into.readUInt16LE(18) !== kind) return 'it is of another kind';
    if (number64(into, 8) > this.#meta.transaction) return 'it is newer than the file';
    return undefined;
  }

  /** Pages that a value of this size takes outside its leaf. */
  pagesOf(size: number): number {
    return Math.ceil((headerBytes + size) / this.pageBytes);
  }

  /** Why a value of this size on overflow pages cannot be followed, by the header of the first; undefined when it can. */
  overflowWrong(first: number, size: number): string | undefined {
    if (!(first > 1 && first <= this.#meta.lastPage)) return `there is no page ${first}`;
    // The value may end with pages of zeros, the header cannot.
    if (first * this.pageBytes + headerBytes + size > this.#sizeOnDisk)
      return 'it lies beyond the end of the file';
    const header = Buffer.allocUnsafe(headerBytes);
    const failed = this.#pieces.copy(first * this.pageBytes, header, headerBytes);
    if (failed !== undefined) return failed;
    if (number64(header, 0) !== first) return 'it holds something else';
    if (header.readUInt16LE(18) !== overflowPage) return 'it is of another kind';
    return header.readUInt32LE(20) === this.pagesOf(size) ? undefined : 'it says another length';
  }

  /** The bytes of a value on overflow pages, or why they can't be read. */
  overflow(first: number, size: number): Buffer | string {
    const wrong = this.overflowWrong(first, size);
    if (wrong !== undefined) return wrong;
    const bytes = Buffer.allocUnsafe(headerBytes + size);
    return this.#pieces.copy(first * this.pageBytes, bytes, bytes.length) ?? bytes.subarray(headerBytes);
  }

  /**
   * Every row of leaf pages anywhere in the file, reachable or not, old versions too: what a damaged tree leaves for
   * whoever can tell good rows from bad.
   */
  *strayRows(): Generator<StrayRow> {
    const page = Buffer.allocUnsafe(this.pageBytes);
    for (let n = 2; n < this.pages && (n + 1) * this.pageBytes <= this.fileBytes; n++) {
      if (this.loadPage(n, leafPage, page) !== undefined) continue;
      const nodes = Math.min(page.readUInt16LE(20), this.pageBytes - headerBytes) >> 1;
      for (let i = 0; i < nodes; i++) {
        const node = nodeAt(page, i, true);
        if (node === undefined || node.flags === tableValue) continue;
        yield { page: n, node: i, key: page.subarray(node.key, node.value), bytes: node.size };
      }
    }
  }

  /** The value of a stray row, in a buffer of its own. */
  strayValue(n: number, i: number): Buffer | undefined {
    const page = Buffer.allocUnsafe(this.pageBytes);
    const node = this.loadPage(n, leafPage, page) === undefined ? nodeAt(page, i, true) : undefined;
    if (node === undefined || node.flags === tableValue) return undefined;
    if (node.flags === 0) return page.subarray(node.value, node.value + node.size);
    const value = node.size <= maxValueBytes ? this.overflow(number64(page, node.value), node.size) : '';
    return typeof value === 'string' ? undefined : value;
  }
}

/** What is left of `size` bytes without the whole pages of zeros at their end: no page that LMDB writes is one. */
function writtenBytes(file: number, size: number, pageBytes: number): number {
  const piece = Buffer.alloc(pieceBytes);
  for (let end = size; end > 0; ) {
    const at = Math.max(0, Math.ceil(end / pieceBytes) - 1) * pieceBytes;
    const length = readSync(file, piece, 0, end - at, at);
    let last = length - 1;
    while (last >= 0 && piece[last] === 0) last--;
    if (last >= 0) return Math.min(size, Math.ceil((at + last + 1) / pageBytes) * pageBytes);
    end = at;
  }
  return 0;
}

/** Where a row lies. The key's view lives until the next row. */
export interface StrayRow {
  readonly page: number;
  readonly node: number;
  readonly key: Buffer;
  /** Size of the value. */
  readonly bytes: number;
}
