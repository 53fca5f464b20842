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
import { kindProblem } from '../files/data-folder-files.ts';

export type { Database, Key, RootDatabase };

/**
 * Size of the address space reserved for a map. It is not disk space: the file grows only as data is written.
 */
export const mapSize = 256 * 2 ** 30;

/**
 * Settings that keep the list of free pages in memory, 8 bytes each. With more than 75,000 free pages, which
 * large transactions leave, lmdb-js would otherwise read and write the list in each transaction: 130 ms per
 * commit. For the same reason, lmdb-js does not load more of the list while it has enough pages.
 */
const freePages = { maxFreeSpaceToRetain: 1_000_000, maxFreeSpaceToLoad: 10_000 };

/**
 * Opens a memory-mapped database file with this product's durability: `transactionSync` returns only after
 * the operating system has flushed data and meta page to disk, or throws. By default, lmdb-js lets the flush of one
 * transaction overlap the next transaction, and reports the flush through `flushed`. A synchronous commit in a
 * dedicated thread has no unflushed window, and a failed flush throws at the commit.
 *
 * The system's read-ahead (128 kB by default) stays on. With lmdb's `noReadAhead`, a read from disk fetches only 4 kB,
 * and sequential reads take ten times as long: a backup of 1 GB takes 67 s instead of 6 s. Proofs from a cold file
 * would benefit from `noReadAhead` only if the system read megabytes ahead, because a proof reads two ranges of 4 and
 * 16 kB.
 *
 * Threads of one process share the map. Readers see a transaction only once it is flushed. A reader must be
 * opened after a writer of the same process.
 *
 * @throws DatabaseFileError if the file exists and is not an LMDB database; the error of the operating system
 * if the disk is full
 */
export function openDatabase(path: string, options: { readOnly?: boolean; maxDbs?: number } = {}): RootDatabase {
  const problem = kindProblem(path, 'file') ?? kindProblem(`${path}-lock`, 'file');
  if (problem !== undefined) throw new DatabaseFileError(problem);
  if (!options.readOnly && !prepareDatabaseFile(path)) requireWritableDisk(path);
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
 * Copies the result of `getBinaryFast` into a separate buffer. The result is in a buffer of 16 MB that the
 * next read overwrites, and only its first `length` bytes belong to the value. Array methods ignore that
 * `length` and would copy the whole buffer.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length).slice();
}

/** Returns whether a database was opened read-only. */
export const isReadOnly = (root: RootDatabase): boolean =>
  (root as unknown as { readonly readOnly?: boolean }).readOnly === true;

/**
 * LMDB's counts for a table and for its file (mdb_stat, mdb_env_info). All values except the page size are
 * numbers of pages.
 */
interface Pages {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

type Counted = Pick<Database, 'getStats'>;

/**
 * Returns the bytes of a table in the file, in whole pages. LMDB keeps the counts, so a call takes only a few
 * microseconds.
 */
export function tableBytes(table: Counted): number {
  return bytesOf(table.getStats() as Pages);
}

/**
 * Returns the unused bytes of the file: freed pages, which LMDB uses before the file grows. Includes a few
 * pages that recent transactions or a reader still use.
 *
 * @param tables - all tables of the file
 */
export function unusedBytes(root: RootDatabase, tables: readonly Counted[]): number {
  const { pageSize, lastPageNumber, root: main, free } = root.getStats() as Pages & FilePages;
  const metaPages = 2;
  const inUse = tables.reduce((sum, table) => sum + tableBytes(table), bytesOf(main) + bytesOf(free));
  return Math.max(0, (lastPageNumber + 1 - metaPages) * pageSize - inUse);
}

interface FilePages {
  readonly lastPageNumber: number;
  /** LMDB's internal table of table names. */
  readonly root: Pages;
  /** LMDB's internal table of free pages. */
  readonly free: Pages;
}

const bytesOf = ({ pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages }: Pages): number =>
  (treeBranchPageCount + treeLeafPageCount + overflowPages) * pageSize;

/**
 * Copies a snapshot of an open database into a new file, mode 0600, and flushes the file; the caller must
 * flush the folder. LMDB reads one snapshot in a thread outside JavaScript: commits continue, and the pages
 * that they free are not reused until the copy is done. The database must stay open during the copy.
 *
 * Only pages in use are copied, at the speed of walking the tree (100 MB/s). This leaves disk bandwidth to
 * commits: their p99 stays under 10 ms. A copy of whole pages would be 20 times faster, but commits would
 * wait up to 0.4 s for the writes of the copy.
 *
 * @throws Error with LMDB's or the system's message; the caller must remove the incomplete file
 */
export async function copyDatabase(root: RootDatabase, path: string): Promise<void> {
  try {
    await root.backup(path, true);
  } catch (error) {
    // Unreferenced pages, which an older LMDB may have left, cannot be omitted from a copy.
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

/** Offsets and values in LMDB's two meta pages (MDB_meta in liblmdb/mdb.c; pages 0 and 1, little-endian). */
const magic = { offset: 24, value: 0xbeefc0de };
const pageSize = { offset: 48 };
const lastPage = { offset: 144 };
const metaBytes = 160;

/** Signals that a file is not an LMDB database. The message states the reason. */
export class DatabaseFileError extends Error {
  override readonly name = 'DatabaseFileError';
}

/**
 * Prepares a database file so that it can be mapped. Without this preparation, a file in another format would end the
 * process with SIGSEGV, and reading past the end of a truncated file would end it with SIGBUS.
 *
 * A file that is shorter than its meta pages state is filled with zeros. LMDB itself leaves such a file if the last
 * pages are free, and then never reads these pages. If the pages were in use, reads report a missing page. The file is
 * also flushed, so that reads only see data on disk. Otherwise, if a process was killed during a flush, other processes
 * would see a transaction that a power failure can still remove. A missing or empty file is not changed.
 *
 * @returns false for a missing or empty file
 * @throws DatabaseFileError
 */
export function prepareDatabaseFile(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    if (size === 0) return false;
    const bytesPerPage = readMeta(file, 0).readUInt32LE(pageSize.offset);
    if (bytesPerPage < 512 || bytesPerPage > 65_536)
      throw new DatabaseFileError(`invalid page size: ${bytesPerPage} bytes, expected 512 to 65536`);
    const pages = [readMeta(file, 0), readMeta(file, bytesPerPage)].map((meta) =>
      Number(meta.readBigUInt64LE(lastPage.offset)),
    );
    const wanted = (Math.max(...pages) + 1) * bytesPerPage;
    if (wanted > 2 ** 48) throw new DatabaseFileError(`invalid file size in the meta pages: ${wanted} bytes`);
    if (size < wanted) ftruncateSync(file, wanted);
    fsyncSync(file);
    return true;
  } finally {
    closeSync(file);
  }
}

/**
 * Writes a probe file as large as a new database. If LMDB runs out of disk space while it creates a database, the
 * process ends with SIGSEGV and no message.
 */
function requireWritableDisk(path: string): void {
  const probe = `${path}.probe`;
  try {
    writeFileSync(probe, Buffer.alloc(newDatabaseBytes), { mode: 0o600, flush: true });
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Initial size of a database: two meta pages. */
const newDatabaseBytes = 8192;

/** Size of LMDB's table of 126 readers (MDB_txninfo and MDB_reader in liblmdb/mdb.c). */
const lockFileBytes = 8272;

/**
 * Allocates a new lock file. LMDB creates and maps the file without allocating it: on a full disk, the first
 * write to the map would end the process with SIGBUS. A complete lock file may be in use and is not opened,
 * because closing it would release LMDB's lock.
 */
function prepareLockFile(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= lockFileBytes) return;
  try {
    writeFileSync(path, Buffer.alloc(lockFileBytes), { mode: 0o600, flush: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EROFS') return; //  LMDB reads without a lock on a read-only volume
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
