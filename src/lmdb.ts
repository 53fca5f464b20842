import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { type Database, type Key, open, type RootDatabase } from 'lmdb';

export type { Database, Key, RootDatabase };

/** Address space reserved for a map, not disk: the file grows only with what is written. */
const mapSize = 256 * 2 ** 30;

/**
 * Opens a memory-mapped database file with this product's durability: `transactionSync` returns only after the
 * operating system has flushed data and meta page to disk, or throws. lmdb-js would by default let the flush of one
 * transaction overlap the next and promise it through `flushed`; a synchronous commit in a dedicated thread has no
 * such window, and a failed flush is an exception at the place that must not go on.
 *
 * Threads of one process share the map. Readers see a transaction only once it is flushed. A reader must be opened
 * after a writer of the same process.
 *
 * @throws DatabaseFileError when the file is there and is no LMDB database
 */
export function openDatabase(
  path: string,
  options: { readOnly?: boolean; maxDbs?: number } = {},
): RootDatabase {
  if (!options.readOnly) prepareDatabaseFile(path);
  return open({
    path,
    noSubdir: true,
    mapSize,
    maxDbs: options.maxDbs ?? 32,
    readOnly: options.readOnly ?? false,
    overlappingSync: false,
    cache: false,
  });
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
 * A file that is missing or empty is left alone.
 *
 * @throws DatabaseFileError
 */
function prepareDatabaseFile(path: string): void {
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
  } finally {
    closeSync(file);
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
