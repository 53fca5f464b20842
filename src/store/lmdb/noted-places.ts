import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, prepareDatabaseFile, type RootDatabase } from '../../lmdb.ts';
import type { EntryPlace, LogLife, NotedPlace } from '../store.ts';
import { lastAlertPlaces } from './alert-change.ts';
import { lastCoveringPlaces } from './covering-places.ts';
import { databaseFile, openTables, type Tables } from './tables.ts';

/**
 * Positions of each kind that are compared at a start: the highest alone proves a rollback, more of them
 * detect an altered entry.
 */
const compared = 256;

/** The log positions recorded in a siem.mdb. */
interface NotedPlaces {
  readonly life?: LogLife;
  readonly places: readonly NotedPlace[];
  readonly last?: EntryPlace;
  /** Ids of entries in the outbox. */
  readonly waiting?: ReadonlySet<string>;
  /** Why the file or part of it cannot be compared with the log. */
  readonly unreadable?: string;
}

/**
 * Reads the log positions recorded in the siem.mdb of a folder, before the store opens it. The caller holds
 * the lock on the data folder.
 */
export async function readNotedPlaces(dataDir: string): Promise<NotedPlaces> {
  const path = join(dataDir, databaseFile);
  const unreadable = (why: string): NotedPlaces => ({ places: [], unreadable: `${path} ${why}` });
  if (!existsSync(path)) return unreadable('is missing');
  if (statSync(path).size === 0) return unreadable('is empty');
  let root: RootDatabase | undefined;
  try {
    prepareDatabaseFile(path); // as the store will: reading past the end of a truncated file ends the process
    root = openDatabase(path, { readOnly: true });
    return notedIn(openTables(root));
  } catch (error) {
    return unreadable(`cannot be read (${error instanceof Error ? error.message : String(error)})`);
  } finally {
    await root?.close();
  }
}

/** In a file opened for reading, a missing table is undefined. */
function notedIn(tables: Tables): NotedPlaces {
  const there: Partial<Tables> = tables;
  const life = there.logLife?.get('life');
  const last = there.lastEntry?.get('last');
  return {
    ...(life === undefined ? {} : { life }),
    ...(last === undefined ? {} : { last }),
    waiting: new Set(there.outboxIds?.getKeys()),
    places: [
      ...(there.alertPlaces === undefined ? [] : lastAlertPlaces(tables, compared)),
      ...(there.receiptBatches === undefined ? [] : lastCoveringPlaces('receipts', tables, compared)),
      ...(there.eventSeals === undefined ? [] : lastCoveringPlaces('events', tables, compared)),
    ],
  };
}
