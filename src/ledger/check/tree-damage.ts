import { statSync } from 'node:fs';
import { unusableStoreAdvice } from '../../database/damage.ts';
import { DatabaseFile, NotADatabase, type PageDamage, type Table } from './database-file.ts';
import { mendMeta } from './database-meta.ts';
import { branchPage, childOf, nodesWrong } from './database-page.ts';
import { RowCursor } from './row-cursor.ts';

/** Maximum bytes of a value in databases other than the log. */
const maxValueBytes = 2 ** 30;
/**
 * Tables whose leaves are not read at start-up if the file is large. Reading them takes 1 s per GB, and 5 s per GB on a
 * slow disk.
 */
const largeTables: ReadonlySet<string> = new Set(['event-parts', 'event-headers', 'event-ids', 'event-leavings']);
const maxWalkedAtStart = 2 ** 30;
/** Maximum damaged places that are listed. */
const maxNamed = 100;

interface WalkOptions {
  readonly isDirect?: boolean;
  /** Tables whose leaves are not read; only their page numbers are checked. */
  readonly unread?: ReadonlySet<string> | undefined;
  /** Whether to accept one damaged meta page if the other can replace it. */
  readonly mayTear?: boolean;
}

/**
 * Returns the first 100 places of an LMDB file at which a tree is damaged: meta pages, page numbers, types of pages,
 * nodes, order of keys, pages used twice, and tables whose row count is wrong. Reading such a place with LMDB may end
 * the process. Values are not read, except the lists of free pages.
 */
export function treeDamage(
  path: string,
  { isDirect = true, unread, mayTear = false }: WalkOptions = {},
): readonly string[] {
  const found: string[] = [];
  const note = (what: string) => {
    if (found.length < maxNamed) found.push(what);
  };
  let file: UsedPages;
  try {
    file = new UsedPages(path, isDirect);
  } catch (error) {
    if (!(error instanceof NotADatabase)) throw error;
    return [`it is not a database: ${error.message}`];
  }
  try {
    const onDamage = ({ page, table, what }: PageDamage) =>
      note(`page ${page}, in the table ${table}, is not valid: ${what}`);
    if (file.tornMeta !== undefined && !(mayTear && file.areMetasInStep)) note(`meta page ${file.tornMeta} is damaged`);
    else if (file.tornMeta === undefined && !file.areMetasInStep)
      note('the meta pages do not belong to two consecutive transactions');
    const checkRows = (table: Table, next: (cursor: RowCursor) => boolean) => {
      const before = found.length;
      const cursor = new RowCursor(file, table, onDamage);
      let rows = 0;
      while (next(cursor)) rows++;
      if (rows !== table.rows && found.length === before)
        note(`the table ${table.name} has ${rows} rows, but its record counts ${table.rows}`);
    };
    for (const table of file.tables(onDamage).values())
      if (unread?.has(table.name)) checkBranches(file, table, onDamage);
      else checkRows(table, (cursor) => cursor.nextRow());
    checkRows(file.freeList, (cursor) => {
      if (!cursor.next()) return false;
      const wrong = file.takeFree(cursor.value());
      if (wrong !== undefined) note(`a list of free pages is not valid: ${wrong}`);
      return true;
    });
    return found;
  } finally {
    file.close();
  }
}

function checkBranches(file: UsedPages, table: Table, onDamage: (damage: PageDamage) => void): void {
  const check = (page: number, level: number) => {
    let what: string | undefined;
    if (level === table.depth - 1) what = file.takePage(page);
    else {
      const bytes = Buffer.allocUnsafe(file.pageBytes);
      what = file.loadPage(page, branchPage, bytes) ?? nodesWrong(bytes, false, table.keyOrder);
      const nodes = what === undefined ? bytes.readUInt16LE(20) >> 1 : 0;
      for (let i = 0; i < nodes; i++) check(childOf(bytes, i), level + 1);
    }
    if (what !== undefined) onDamage({ table: table.name, page, what });
  };
  if (table.root !== undefined) check(table.root, 0);
}

/**
 * Walks siem.mdb before LMDB maps it, and repairs a meta page that was only partly written before a power failure.
 * Reads through the page cache, because LMDB will read the same pages.
 *
 * @returns a warning if a meta page was repaired
 * @throws Error with a one-line message if LMDB would follow a damaged page
 */
export function requireSoundTree(path: string): string[] {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return [];
  const unread = size > maxWalkedAtStart ? largeTables : undefined;
  const [damage] = treeDamage(path, { isDirect: false, unread, mayTear: true });
  if (damage === undefined) {
    const torn = mendMeta(path);
    return torn === undefined
      ? []
      : [`meta page ${torn} of ${path} was damaged and has been repaired; the last change may be missing`];
  }
  throw new Error(`${path} is damaged (${damage}). ${unusableStoreAdvice}`);
}

/** A database file that is walked once. Owns the set of used pages: each page belongs to one place. */
class UsedPages extends DatabaseFile {
  readonly #used: Uint8Array;

  constructor(path: string, isDirect: boolean) {
    super(path, { isDirect, maxValueBytes });
    this.#used = new Uint8Array(Math.ceil(this.fileBytes / this.pageBytes / 8) + 1);
  }

  /** Marks a page as used without reading it. Returns why the page is not valid; undefined if it is valid. */
  takePage(n: number): string | undefined {
    if (!(n > 1 && n < this.pages)) return `there is no page ${n}`;
    if ((n + 1) * this.pageBytes > this.fileBytes) return 'it lies beyond the end of the file';
    return this.#take(n, 1);
  }

  override loadPage(n: number, kind: number, into: Buffer): string | undefined {
    return super.loadPage(n, kind, into) ?? this.#take(n, 1);
  }

  override overflowWrong(first: number, size: number): string | undefined {
    return super.overflowWrong(first, size) ?? this.#take(first, this.pagesOf(size));
  }

  /**
   * Marks the pages in a record of the free list as used. The record has a count of words, then page numbers. A
   * negative word is the length of the run that starts with the following page number; 0 is an empty slot. Returns why
   * the record is not valid; undefined if it is valid.
   */
  takeFree(record: Buffer): string | undefined {
    if (record.length % 8 !== 0 || record.length === 0) return `it has ${record.length} bytes`;
    const words = new BigInt64Array(record.buffer.slice(record.byteOffset, record.byteOffset + record.length));
    if (words[0]! < 0n || words[0]! >= words.length)
      return `its count of words is ${words[0]}, but it has ${words.length - 1}`;
    for (let i = 1; i <= Number(words[0]); i++) {
      const word = Number(words[i]);
      if (word === 0) continue;
      const pages = word < 0 ? -word : 1;
      const first = word < 0 ? Number(words[++i] ?? 0n) : word;
      if (first < 2 || first + pages > this.pages) return `there are no pages ${first} to ${first + pages - 1}`;
      const wrong = this.#take(first, pages);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  /**
   * Marks pages as used. Ignores pages beyond the end of the file: in an undamaged file, these are free pages that LMDB
   * never wrote. Returns an error if a page is already in use; undefined otherwise.
   */
  #take(first: number, pages: number): string | undefined {
    const end = Math.min(first + pages, this.#used.length * 8);
    for (let page = first; page < end; page++) {
      const bit = 1 << (page & 7);
      if ((this.#used[page >> 3]! & bit) !== 0) return `page ${page} is used twice`;
      this.#used[page >> 3]! |= bit;
    }
    return undefined;
  }
}
