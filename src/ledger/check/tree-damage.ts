import { statSync } from 'node:fs';
import { DatabaseFile, NotADatabase, type PageDamage, type Table } from './database-file.ts';
import { mendMeta } from './database-meta.ts';
import { branchPage, childOf, nodesWrong } from './database-page.ts';
import { RowCursor } from './row-cursor.ts';

/** Values of other tables than the log's may be as large as this. */
const maxValueBytes = 2 ** 30;
/** The leaves of these are not read at a start on a larger file: with them, a GB takes 1 s, and 5 s from a slow disk. */
const largeTables: ReadonlySet<string> = new Set([
  'event-parts',
  'event-headers',
  'event-ids',
  'event-leavings',
]);
const maxWalkedAtStart = 2 ** 30;
/** Damaged places that are named. */
const maxNamed = 100;

interface WalkOptions {
  readonly isDirect?: boolean;
  /** Tables whose leaves are not read: only where they are is checked. */
  readonly unread?: ReadonlySet<string> | undefined;
  /** Accepts one meta page that is not whole, where the other can take its place. */
  readonly mayTear?: boolean;
}

/**
 * Every place of an LMDB file at which a tree cannot be followed: meta pages, page numbers, kinds and bounds of pages,
 * nodes, order of keys, pages that two places use, and tables with other rows than they count. LMDB itself follows such a
 * place and may end the process. Values are not read, except the lists of free pages.
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
      note(`page ${page}, in the table ${table}, cannot be followed: ${what}`);
    if (file.tornMeta !== undefined && !(mayTear && file.areMetasInStep))
      note(`meta page ${file.tornMeta} is not whole`);
    else if (file.tornMeta === undefined && !file.areMetasInStep)
      note('the meta pages do not belong to two consecutive transactions');
    const checkRows = (table: Table, next: (cursor: RowCursor) => boolean) => {
      const before = found.length;
      const cursor = new RowCursor(file, table, onDamage);
      let rows = 0;
      while (next(cursor)) rows++;
      if (rows !== table.rows && found.length === before)
        note(`the table ${table.name} has ${rows} rows, where ${table.rows} are counted`);
    };
    for (const table of file.tables(onDamage).values())
      if (unread?.has(table.name)) checkBranches(file, table, onDamage);
      else checkRows(table, (cursor) => cursor.nextRow());
    checkRows(file.freeList, (cursor) => {
      if (!cursor.next()) return false;
      const wrong = file.takeFree(cursor.value());
      if (wrong !== undefined) note(`a list of free pages cannot be followed: ${wrong}`);
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
 * Walks siem.mdb before LMDB maps it, and mends a meta page that a power failure cut. Reads through the system's cache, in
 * which LMDB will look for the same pages.
 *
 * @returns a warning where it mended one
 * @throws Error with one clear line where LMDB would follow a damaged page
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
      : [`meta page ${torn} of ${path} was not whole and is mended: the last change may be missing`];
  }
  throw new Error(
    `${path} is damaged (${damage}): check the disk; \`candor fsck\` lists all damage, and ` +
      '`candor restore --replace <backup>` brings a backup back',
  );
}

/** A database that is walked once. Owner of the set of pages that were met: one page belongs to one place. */
class UsedPages extends DatabaseFile {
  readonly #used: Uint8Array;

  constructor(path: string, isDirect: boolean) {
    super(path, { isDirect, maxValueBytes });
    this.#used = new Uint8Array(Math.ceil(this.fileBytes / this.pageBytes / 8) + 1);
  }

  /** Takes a page that is not read. */
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
   * A record of the list of free pages: how many words, then numbers of pages. A negative word is the length of the run
   * that begins with the page behind it; 0 is an empty place.
   */
  takeFree(record: Buffer): string | undefined {
    if (record.length % 8 !== 0 || record.length === 0) return `it has ${record.length} bytes`;
    const words = new BigInt64Array(
      record.buffer.slice(record.byteOffset, record.byteOffset + record.length),
    );
    if (words[0]! < 0n || words[0]! >= words.length)
      return `it counts ${words[0]} words and has ${words.length - 1}`;
    for (let i = 1; i <= Number(words[0]); i++) {
      const word = Number(words[i]);
      if (word === 0) continue;
      const pages = word < 0 ? -word : 1;
      const first = word < 0 ? Number(words[++i] ?? 0n) : word;
      if (first < 2 || first + pages > this.pages)
        return `there are no pages ${first} to ${first + pages - 1}`;
      const wrong = this.#take(first, pages);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  /** Pages beyond the end of the file are free, as LMDB leaves them off, and used once or the file is damaged already. */
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
