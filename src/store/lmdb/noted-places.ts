import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../lmdb.ts';
import type { LogLife, NotedPlace } from '../store.ts';
import { lastPlaces } from './alert-change.ts';
import { databaseFile, openTables } from './tables.ts';

/** Alerts whose places are compared at a start: the highest one alone proves a rollback, more find an altered one. */
const compared = 256;

/**
 * What the siem.mdb of a folder remembers of the log, before the store opens it; undefined where there is none, or where
 * it cannot be read, which the store reports.
 */
export async function readNotedPlaces(
  dataDir: string,
): Promise<{ readonly life?: LogLife; readonly places: readonly NotedPlace[] } | undefined> {
  const path = join(dataDir, databaseFile);
  if (!existsSync(path) || statSync(path).size === 0) return undefined;
  let root: ReturnType<typeof openDatabase>;
  try {
    root = openDatabase(path, { readOnly: true });
  } catch {
    return undefined;
  }
  try {
    const tables = openTables(root);
    // Opened for reading, a table that an older file does not have is undefined.
    const later = tables as Partial<Pick<typeof tables, 'logLife' | 'alertPlaces'>>;
    if (later.alertPlaces === undefined) return undefined;
    const life = later.logLife?.get('life');
    return { ...(life === undefined ? {} : { life }), places: lastPlaces(tables, compared) };
  } catch {
    return undefined;
  } finally {
    await root.close();
  }
}
