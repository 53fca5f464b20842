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
 *     table    4 flags: none · 6 depth · 32 rows · 40 root
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type Meta, readMetas, readTable, type Table, wholeFile, withoutMeta } from './database-meta.ts';
import {
  bigValue,
  branchPage,
  childOf,
  headerBytes,
  keyStart,
  leafPage,
  type Node,
  nodeAt,
  nodesWrong,
  number64,
  overflowPage,
  search,
  tableValue,
} from './database-page.ts';

export type { Table } from './database-meta.ts';

/** Trees of this depth would hold more rows than the largest file has bytes. */
const maxDepth = 32;
/** Values of the ledger are at most 60,000 bytes. */
const maxValueBytes = 2 ** 20;

/** Read at once, and how many such pieces are kept: 16 MB. Neighbours in a table are mostly neighbours in the file. */
const pieceBytes = 65_536;
const keptPieces = 256;

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

/** An open file. Owner of its descriptor and of a cache of 16 MB. */
export class DatabaseFile {
  readonly path: string;
  readonly pageBytes: number;
  readonly fileBytes: number;
  /** Which of the two meta pages can't be read: after a torn write, one. */
  readonly tornMeta: 0 | 1 | undefined;
  readonly #file: number;
  readonly #meta: Meta;
  readonly #pieces: ({ at: number; bytes: Buffer; length: number } | undefined)[] = new Array(keptPieces);

  /**
   * @param rescue - for whoever can tell good rows from bad: pages of the file beyond what its meta page says count, too,
   * for the newer meta page may be torn; and a file without a meta page is taken for pages of 4096 bytes, with stray rows
   * and no tables
   * @throws NotADatabase; or the system's error where the file can't be read at all.
   */
  constructor(path: string, rescue: 'rescue' | undefined = undefined) {
    this.path = path;
    this.#file = openSync(path, 'r');
    try {
      const { size } = fstatSync(this.#file);
      this.fileBytes = size;
      const found = readMetas(this.#file, size) ?? (rescue === undefined ? undefined : withoutMeta());
      if (found === undefined)
        throw new NotADatabase(size === 0 ? 'it is empty' : 'neither of its meta pages can be read');
      this.pageBytes = found.pageBytes;
      this.#meta = rescue === undefined ? found.meta : wholeFile(found, size);
      this.tornMeta = found.torn;
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  close(): void {
    closeSync(this.#file);
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
    const failed = this.#copy(n * this.pageBytes, into, this.pageBytes);
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

  /** The bytes of a value on overflow pages, or why they can't be read. */
  overflow(first: number, size: number): Buffer | string {
    if (!(first > 1 && first <= this.#meta.lastPage)) return `there is no page ${first}`;
    const position = first * this.pageBytes;
    if (position + headerBytes + size > this.fileBytes) return 'it lies beyond the end of the file';
    const bytes = Buffer.allocUnsafe(headerBytes + size);
    const failed = this.#copy(position, bytes, bytes.length);
    if (failed !== undefined) return failed;
    if (number64(bytes, 0) !== first) return 'it holds something else';
    if (bytes.readUInt16LE(18) !== overflowPage) return 'it is of another kind';
    if (bytes.readUInt32LE(20) !== this.pagesOf(size)) return 'it says another length';
    return bytes.subarray(headerBytes);
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

  #copy(position: number, into: Buffer, length: number): string | undefined {
    for (let done = 0; done < length; ) {
      const at = Math.floor((position + done) / pieceBytes);
      const piece = this.#piece(at);
      if (typeof piece === 'string') return piece;
      const from = position + done - at * pieceBytes;
      const part = Math.min(length - done, piece.length - from);
      if (part <= 0) return 'it lies beyond the end of the file';
      piece.bytes.copy(into, done, from, from + part);
      done += part;
    }
    return undefined;
  }

  #piece(at: number): { at: number; bytes: Buffer; length: number } | string {
    const kept = this.#pieces[at % keptPieces];
    if (kept?.at === at) return kept;
    const piece = kept ?? { at: -1, bytes: Buffer.allocUnsafeSlow(pieceBytes), length: 0 };
    piece.at = -1;
    try {
      piece.length = readSync(this.#file, piece.bytes, 0, pieceBytes, at * pieceBytes);
    } catch (error) {
      return `the disk cannot read it (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
    }
    piece.at = at;
    this.#pieces[at % keptPieces] = piece;
    return piece;
  }
}

/** Where a row lies. The key's view lives until the next row. */
export interface StrayRow {
  readonly page: number;
  readonly node: number;
  readonly key: Buffer;
  /** Size of the value. */
  readonly bytes: number;
}

interface Level {
  readonly page: Buffer;
  nodes: number;
  index: number;
}

/**
 * The rows of a table in the order of their keys. `next` steps; the views of `key` and `value` live until the step
 * after. What can't be followed is told to `onDamage`, and the rows behind it are passed over.
 */
export class RowCursor {
  readonly #file: DatabaseFile;
  readonly #table: Table;
  readonly #onDamage: (damage: PageDamage) => void;
  readonly #levels: Level[] = [];
  /** Keys of the leaf before last, and the branch key that parts it from this one. */
  #lastKey: Buffer | undefined;
  #separator: Buffer | undefined;
  #started = false;
  /** Where to begin, until that is reached. */
  #from: Buffer | undefined;
  #node: Node | undefined;
  #big: Buffer | undefined;
  #leaf: Level | undefined;

  /** @param from - begins with the first row whose key isn't below it */
  constructor(file: DatabaseFile, table: Table, onDamage: (damage: PageDamage) => void, from?: Buffer) {
    this.#file = file;
    this.#table = table;
    this.#onDamage = onDamage;
    this.#from = from;
  }

  /** Whether there is another row. */
  next(): boolean {
    if (!this.#started) {
      this.#started = true;
      const { root, depth } = this.#table;
      if (root === undefined) return false;
      if (!(depth > 0 && depth <= maxDepth)) this.#damaged(root, `a tree of depth ${depth}`);
      else this.#enter(root, 0);
    }
    for (;;) {
      const leaf = this.#leaf;
      if (leaf === undefined) return false;
      leaf.index += 1;
      if (leaf.index < leaf.nodes) {
        if (this.#row(leaf)) return true;
      } else this.#turn();
    }
  }

  /** A copy-free view of the key. */
  key(): Buffer {
    return this.#leaf!.page.subarray(this.#node!.key, this.#node!.value);
  }

  value(): Buffer {
    return this.#big ?? this.#leaf!.page.subarray(this.#node!.value, this.#node!.value + this.#node!.size);
  }

  get isTable(): boolean {
    return this.#node!.flags === tableValue && this.#node!.size === 48;
  }

  #row(leaf: Level): boolean {
    const node = nodeAt(leaf.page, leaf.index, true)!;
    this.#node = node;
    this.#big = undefined;
    if (node.flags !== bigValue) return true;
    const first = number64(leaf.page, node.value);
    const fits =
      node.size <= maxValueBytes && number64(leaf.page, node.value + 16) === this.#file.pagesOf(node.size);
    const bytes = fits ? this.#file.overflow(first, node.size) : 'its length makes no sense';
    if (typeof bytes === 'string') {
      this.#damaged(first, bytes);
      return false;
    }
    this.#big = bytes;
    return true;
  }

  /** To the first leaf under page `n` at this depth; past it where it can't be followed. */
  #enter(n: number, depth: number): void {
    for (let page = n; ; depth++) {
      const level = this.#level(depth);
      const isLeaf = depth === this.#table.depth - 1;
      const wrong =
        this.#file.loadPage(page, isLeaf ? leafPage : branchPage, level.page) ??
        this.#checkNodes(level, isLeaf);
      if (wrong !== undefined) {
        this.#damaged(page, wrong);
        level.nodes = 0;
        level.index = 0;
        this.#from = undefined;
        if (depth === 0) this.#leaf = undefined;
        else this.#turnAt(depth - 1);
        return;
      }
      if (isLeaf) {
        level.index = this.#start(level.page) - 1;
        this.#leaf = level;
        return;
      }
      level.index = this.#from === undefined ? 0 : (search(level.page, this.#from, false) ?? 0);
      page = childOf(level.page, level.index);
    }
  }

  /** The node of the first leaf to begin with; 0 in all others. */
  #start(page: Buffer): number {
    const from = this.#from;
    this.#from = undefined;
    const place = from === undefined ? undefined : search(page, from, true);
    if (from === undefined || place === undefined) return 0;
    const { key, value } = nodeAt(page, place, true)!;
    return Buffer.compare(page.subarray(key, value), from) < 0 ? place + 1 : place;
  }

  #turn(): void {
    this.#leaf = undefined;
    this.#turnAt(this.#table.depth - 2);
  }

  /** To the next child of the branch at `depth`, or of one above it. */
  #turnAt(from: number): void {
    this.#leaf = undefined;
    for (let depth = from; depth >= 0; depth--) {
      const level = this.#levels[depth]!;
      level.index += 1;
      if (level.index >= level.nodes) continue;
      const node = nodeAt(level.page, level.index, false)!;
      this.#separator = Buffer.from(level.page.subarray(node.key, node.value));
      this.#enter(childOf(level.page, level.index), depth + 1);
      return;
    }
  }

  #level(depth: number): Level {
    this.#levels[depth] ??= { page: Buffer.allocUnsafe(this.#file.pageBytes), nodes: 0, index: 0 };
    return this.#levels[depth];
  }

  /** Why the nodes of a page can't be followed. Sets how many there are. */
  #checkNodes(level: Level, isLeaf: boolean): string | undefined {
    const wrong = nodesWrong(level.page, isLeaf, isLeaf ? this.#lastKey : undefined);
    if (wrong !== undefined) return wrong;
    level.nodes = level.page.readUInt16LE(20) >> 1;
    return isLeaf ? this.#checkBounds(level) : undefined;
  }

  /** A leaf's keys must lie on the right side of the branch key that leads to it, or a search would miss them. */
  #checkBounds({ page, nodes }: Level): string | undefined {
    const first = nodeAt(page, 0, true)!;
    const separator = this.#separator;
    if (separator !== undefined) {
      this.#separator = undefined;
      const reached = Buffer.compare(separator, page.subarray(first.key, first.value)) <= 0;
      const passed = this.#lastKey === undefined || Buffer.compare(this.#lastKey, separator) < 0;
      if (!reached || !passed) return 'the page above it leads elsewhere';
    }
    const last = nodeAt(page, nodes - 1, true)!;
    this.#lastKey = Buffer.from(page.subarray(last.key, last.value));
    return undefined;
  }

  #damaged(page: number, what: string): void {
    this.#onDamage({ table: this.#table.name, page, what });
  }
}

/** What can't be followed on the way to a table's last row. */
function lastRowDamage(file: DatabaseFile, { name, root, depth }: Table): PageDamage | undefined {
  const page = Buffer.allocUnsafe(file.pageBytes);
  let n = root;
  for (let level = 0; level < depth && n !== undefined; level++) {
    const isLeaf = level === depth - 1;
    const wrong = file.loadPage(n, isLeaf ? leafPage : branchPage, page) ?? nodesWrong(page, isLeaf);
    if (wrong !== undefined) return { table: name, page: n, what: wrong };
    if (!isLeaf) n = childOf(page, (page.readUInt16LE(20) >> 1) - 1);
  }
  return undefined;
}

/** The value of one key, or undefined where there is none or the way to it can't be followed. */
export function findRow(file: DatabaseFile, table: Table, key: Buffer): Buffer | undefined {
  const page = Buffer.allocUnsafe(file.pageBytes);
  let n = table.root;
  for (let depth = 0; depth < Math.min(table.depth, maxDepth) && n !== undefined; depth++) {
    const isLeaf = depth === table.depth - 1;
    if (file.loadPage(n, isLeaf ? leafPage : branchPage, page) !== undefined) return undefined;
    const place = search(page, key, isLeaf);
    if (place === undefined || keyStart(page, place, isLeaf) < 0) return undefined;
    if (!isLeaf) {
      n = childOf(page, place);
      continue;
    }
    const node = nodeAt(page, place, true);
    if (node === undefined || !page.subarray(node.key, node.value).equals(key)) return undefined;
    if (node.flags === 0) return page.subarray(node.value, node.value + node.size);
    if (node.flags !== bigValue || node.size > maxValueBytes) return undefined;
    const bytes = file.overflow(number64(page, node.value), node.size);
    return typeof bytes === 'string' ? undefined : bytes;
  }
  return undefined;
}
