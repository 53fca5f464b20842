import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, prepareDatabaseFile, type RootDatabase } from '../../lmdb.ts';
import type { EntryPlace, LogLife, NotedPlace } from '../store.ts';
import { lastAlertPlaces } from './alert-change.ts';
import { lastCoveringPlaces } from './covering-places.ts';
import { databaseFile, openTables, type Tables } from './tables.ts';

/** Places of each kind that are compared at a start: the highest one alone proves a rollback, more find an altered one. */
const compared = 256;

/** Records of a siem.mdb about the log. */
interface NotedPlaces {
  readonly life?: LogLife;
  readonly places: readonly NotedPlace[];
  readonly last?: EntryPlace;
  /** Ids of entries in the outbox. */
  readonly waiting?: ReadonlySet<string>;
  /** Why the file or a part of it cannot be compared with the log. */
  readonly unreadable?: string;
}

/**
 * Reads the places that the siem.mdb of a folder records of the log, before the store opens it. The caller holds the data
 * folder.
 */
export async function readNotedPlaces(dataDir: string): Promise<NotedPlaces> {
  const path = join(dataDir, databaseFile);
  const unreadable = (why: string): NotedPlaces => ({ places: [], unreadable: `${path} ${why}` });
  if (!existsSync(path)) return unreadable('is missing');
  if (statSync(path).size === 0) return unreadable('is empty');
  let root: RootDatabase | undefined;
  try {
    prepareDatabaseFile(path); // as the store will: reading past the end of a file that was cut ends the process
    root = openDatabase(path, { readOnly: true });
    return notedIn(openTables(root));
  } catch (error) {
    return unreadable(`cannot be read (${error instanceof Error ? error.message : String(error)})`);
  } finally {
    await root?.close();
  }
}

/** Opened for reading, a table that the file does not have is undefined. */
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
