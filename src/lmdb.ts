import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open as openFile, rm } from 'node:fs/promises';
import { type Database, type Key, open, type RootDatabase } from 'lmdb';
import { kindProblem } from './file-kind.ts';

export type { Database, Key, RootDatabase };

/** Address space reserved for a map, not disk: the file grows only with what is written. */
export const mapSize = 256 * 2 ** 30;

/**
 * What is known of free pages stays in memory, 8 bytes each: past 75,000 of them, as large transactions leave behind,
 * lmdb-js would read the list anew in each transaction and write it back, 130 ms of computing whatever is committed.
 * For the same reason it gets no more of the list from disk while it has so many.
 */
const freePages = { maxFreeSpaceToRetain: 1_000_000, maxFreeSpaceToLoad: 10_000 };

/**
 * Opens a memory-mapped database file with this product's durability: `transactionSync` returns only after the
 * operating system has flushed data and meta page to disk, or throws. lmdb-js would by default let the flush of one
 * transaction overlap the next and promise it through `flushed`; a synchronous commit in a dedicated thread has no
 * such window, and a failed flush is an exception at the place that must not go on.
 *
 * The system reads ahead, as far as it is set to: 128 kB where nobody changed it. Without that (lmdb's `noReadAhead`) a
 * read from disk brings 4 kB, and what lies behind one another takes ten times as long: a backup of 1 GB 67 s, not 6. A
 * proof from a cold file would gain only where the system reads megabytes ahead: it reads two places of 4 and 16 kB.
 *
 * Threads of one process share the map. Readers see a transaction only once it is flushed. A reader must be opened
 * after a writer of the same process.
 *
 * @throws DatabaseFileError when the file is there and is no LMDB database; the system's error where there is no room
 */
export function openDatabase(
  path: string,
  options: { readOnly?: boolean; maxDbs?: number } = {},
): RootDatabase {
  const problem = kindProblem(path, 'file') ?? kindProblem(`${path}-lock`, 'file');
  if (problem !== undefined) throw new DatabaseFileError(problem);
  if (!options.readOnly) prepareDatabaseFile(path);
  prepareLockFile(`${path}-lock`);
  return open({
    path,
    noSubdir: true,
    mapSize,
    maxDbs: options.maxDbs ?? 96,
    readOnly: options.readOnly ?? false,
    overlappingSync: false,
    cache: false,
    ...freePages,
  });
}

/**
 * A copy, in a buffer of its own, of what `getBinaryFast` returned: that lies in one of 16 MB which the next read
 * overwrites, and of which only the `length` is the value's. Array methods don't go by that, and would copy all of it.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length).slice();
}

/** Whether a database was opened for reading. */
export const isReadOnly = (root: RootDatabase): boolean =>
  (root as unknown as { readonly readOnly?: boolean }).readOnly === true;

/** What LMDB counts of a table, and of the file that it is in (mdb_stat, mdb_env_info). Pages, but for the size of one. */
interface Pages {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

type Counted = Pick<Database, 'getStats'>;

/** Bytes that a table takes up in the file, in whole pages. Counted by LMDB: asking takes some µs. */
export function tableBytes(table: Counted): number {
  return bytesOf(table.getStats() as Pages);
}

/**
 * Bytes of the file that nothing takes up: pages that were freed, which are used before the file grows. Among them are a
 * few that the last transactions or a reader still hold.
 *
 * @param tables - all that the file has
 */
export function unusedBytes(root: RootDatabase, tables: readonly Counted[]): number {
  const { pageSize, lastPageNumber, root: main, free } = root.getStats() as Pages & FilePages;
  const metaPages = 2;
  const inUse = tables.reduce((sum, table) => sum + tableBytes(table), bytesOf(main) + bytesOf(free));
  return Math.max(0, (lastPageNumber + 1 - metaPages) * pageSize - inUse);
}

interface FilePages {
  readonly lastPageNumber: number;
  /** The tables that LMDB has for itself: of names, and of free pages. */
  readonly root: Pages;
  readonly free: Pages;
}

const bytesOf = ({ pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages }: Pages): number =>
  (treeBranchPageCount + treeLeafPageCount + overflowPages) * pageSize;

/**
 * Copies an open database as of one moment into a new file, mode 0600, and flushes it; the folder is the caller's to
 * flush. LMDB reads one snapshot, in a thread that isn't JavaScript's: commits go on, and the pages that they free are
 * not used again until the copy is done. The database must stay open until then.
 *
 * Only pages in use are copied, at the pace at which the tree is walked (100 MB/s), which leaves the disk to commits:
 * their p99 stays under 10 ms. Page for page LMDB copies 20 times as quickly, in writes of a gigabyte, each of which
 * makes commits wait for up to 0.4 s.
 *
 * @throws Error with LMDB's or the system's message; what was written is left for the caller to remove.
 */
export async function copyDatabase(root: RootDatabase, path: string): Promise<void> {
  try {
    await root.backup(path, true);
  } catch (error) {
    // Pages that belong to nothing, as an older LMDB may have left them: they can't be left out, only copied along.
    if (!(error instanceof Error && error.message.includes('MDB_INCOMPATIBLE'))) throw error;
    await rm(path, { force: true });
    await root.backup(path, false);
  }
  const file = await openFile(path, 'r+');
  try {
    await file.chmod(0o600);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Where LMDB's two meta pages say what the file is (MDB_meta in liblmdb/mdb.c; pages 0 and 1, little-endian). */
const magic = { offset: 24, value: 0xbeefc0de };
const pageSize = { offset: 48 };
const lastPage = { offset: 144 };
const metaBytes = 160;

/** The file is no LMDB database. The message says how. */
export class DatabaseFileError extends Error {
  override readonly name = 'DatabaseFileError';
}

/**
 * Makes a file safe to map. Opened as they are, a file that isn't LMDB's ends the process with SIGSEGV, and reading
 * past the end of one that was cut short ends it with SIGBUS.
 *
 * A file that is shorter than its meta pages say is filled up with zeros: LMDB itself leaves it so when its last
 * pages are free, and never reads them then; if they were in use, what reads them finds no page there and says so.
 * What is read from now on is on disk: a process that was killed in the midst of a flush leaves a transaction that
 * others see and a power failure takes away; it is flushed before anyone is told of it.
 * A file that is missing or empty is left alone.
 *
 * @throws DatabaseFileError
 */
export function prepareDatabaseFile(path: string): void {
  let file: number;
  try {
    file = openSync(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    if (size === 0) return;
    const bytesPerPage = readMeta(file, 0).readUInt32LE(pageSize.offset);
    if (bytesPerPage < 512 || bytesPerPage > 65_536)
      throw new DatabaseFileError(`pages of ${bytesPerPage} bytes`);
    const pages = [readMeta(file, 0), readMeta(file, bytesPerPage)].map((meta) =>
      Number(meta.readBigUInt64LE(lastPage.offset)),
    );
    const wanted = (Math.max(...pages) + 1) * bytesPerPage;
    if (wanted > 2 ** 48) throw new DatabaseFileError(`a last page at byte ${wanted}`);
    if (size < wanted) ftruncateSync(file, wanted);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** LMDB's table of 126 readers (MDB_txninfo and MDB_reader in liblmdb/mdb.c). */
const lockFileBytes = 8272;

/**
 * Gives a new lock file its bytes. LMDB makes one without any and maps it: on a full disk the first write to the map would
 * end the process with SIGBUS. One that is whole may be in use, and stays closed: to close it would release LMDB's lock.
 */
function prepareLockFile(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= lockFileBytes) return;
  try {
    writeFileSync(path, Buffer.alloc(lockFileBytes), { mode: 0o600, flush: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EROFS') return; // LMDB reads there without a lock
    rmSync(path, { force: true });
    throw error;
  }
}

function readMeta(file: number, position: number): Buffer {
  const meta = Buffer.alloc(metaBytes);
  const length = readSync(file, meta, 0, metaBytes, position);
  if (length < metaBytes || meta.readUInt32LE(magic.offset) !== magic.value) {
    throw new DatabaseFileError(`no meta page at byte ${position}`);
  }
  return meta;
}
