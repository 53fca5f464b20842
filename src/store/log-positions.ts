import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lastAlertPositions } from '../alerts/store/alert-change.ts';
import { openDatabase, prepareDatabaseFile, type RootDatabase } from '../database/lmdb.ts';
import { lastCoveringPositions } from './covering-positions.ts';
import type { EntryPosition, LogLife, LogPosition } from './store.ts';
import { databaseFile, openTables, type Tables } from './tables.ts';

/**
 * Number of positions of each kind that are compared at start-up. The highest position suffices to detect a
 * rollback; more positions detect altered entries.
 */
const compared = 256;

/** Positions in the log that an event database recorded for its entries. */
export interface LogPositions {
  /** The life in which the positions were recorded; absent in the first life. */
  readonly life?: LogLife;
  /** Recorded positions, the highest of each kind first. */
  readonly positions: readonly LogPosition[];
  /** The highest leaf at which an entry of any kind was recorded in that life. */
  readonly last?: EntryPosition;
  /** Ids of entries that wait to be logged, or to be recorded as logged. */
  readonly waiting?: ReadonlySet<string>;
  /** Reason why the records cannot be compared with the log, or only partly. */
  readonly unreadable?: string;
}

/**
 * Reads the log positions recorded in the siem.mdb of a folder, before the store opens the file. The caller must
 * hold the lock on the data folder.
 *
 * @param isSound - whether the tree of the file was checked; the file is then not changed
 * @throws the error of the operating system if the file cannot be flushed
 */
export async function readLogPositions(dataDir: string, isSound = false): Promise<LogPositions> {
  const path = join(dataDir, databaseFile);
  const unreadable = (why: string): LogPositions => ({ positions: [], unreadable: `${path} ${why}` });
  if (!existsSync(path)) return unreadable('is missing');
  if (statSync(path).size === 0) return unreadable('is empty');
  let root: RootDatabase | undefined;
  try {
    if (!isSound) prepareDatabaseFile(path); //  reading past the end of a truncated file ends the process
    root = openDatabase(path, { readOnly: true });
    return notedIn(openTables(root));
  } catch (error) {
    // The operating system reports a failed flush only once: the store's flush would then succeed although
    // the data is not on disk.
    if ((error as NodeJS.ErrnoException).syscall === 'fsync') throw error;
    return unreadable(`cannot be read (${error instanceof Error ? error.message : String(error)})`);
  } finally {
    await root?.close();
  }
}

/** Returns the positions. In a file opened for reading, a missing table is undefined. */
function notedIn(tables: Tables): LogPositions {
  const there: Partial<Tables> = tables;
  const life = there.logLife?.get('life');
  const last = there.lastEntry?.get('last');
  return {
    ...(life === undefined ? {} : { life }),
    ...(last === undefined ? {} : { last }),
    waiting: new Set(there.outboxIds?.getKeys()),
    positions: [
      ...(there.alertPlaces === undefined ? [] : lastAlertPositions(tables, compared)),
      ...(there.receiptBatches === undefined ? [] : lastCoveringPositions('receipts', tables, compared)),
      ...(there.eventSeals === undefined ? [] : lastCoveringPositions('events', tables, compared)),
    ],
  };
}
