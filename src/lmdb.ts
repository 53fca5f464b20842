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
 * Threads of one process share the map. Readers see a transaction only once it is flushed.
 */
export function openDatabase(
  path: string,
  options: { readOnly?: boolean; maxDbs?: number } = {},
): RootDatabase {
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
