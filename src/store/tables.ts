import { alertTables } from '../alerts/store/tables.ts';
import type { Key, RootDatabase } from '../database/lmdb.ts';
import { type OpenTables, openRows, type TableSpec } from '../database/rows.ts';
import { detectTables } from '../detect/store/tables.ts';
import { scanTables } from '../discovery/store/tables.ts';
import { eventTables } from '../events/store/tables.ts';
import { identityTables } from '../identities/store/tables.ts';
import { inventoryTables } from '../inventory/store/tables.ts';
import { rollupTables } from '../rollups/store/tables.ts';
import { topologyTables } from '../topology/store/tables.ts';
import { answerTables } from './idempotency-tables.ts';
import { logTables } from './log-tables.ts';

/** Name of the database file in the data folder. */
export const databaseFile = 'siem.mdb';

/**
 * The tables of siem.mdb, except the tables of event blocks. External text is never a key: keys are hashes,
 * or UUIDs whose form was checked. Values are msgpack without shared structures, because several threads read
 * them.
 */
const specs = {
  ...alertTables,
  ...logTables,
  ...eventTables,
  ...answerTables,
  ...identityTables,
  ...scanTables,
  ...inventoryTables,
  ...topologyTables,
  ...rollupTables,
  ...detectTables,
};

export type Tables = OpenTables<typeof specs>;

const names = Object.keys(specs) as readonly (keyof Tables)[];
const specOf = (name: keyof Tables): TableSpec<unknown, Key> => specs[name];

/**
 * Tables that files of earlier versions lack. Opening a file for writing creates and completes these tables.
 */
export const laterTables: readonly (keyof Tables)[] = names.filter((name) => !specOf(name).original);

/**
 * Opens all tables.
 *
 * @param onDamage - receives damaged rows, which all tables except the strict ones leave out; by default, all
 * tables throw
 */
export function openTables(root: RootDatabase, onDamage?: (row: string) => void): Tables {
  const opened = names.map((name) => {
    const { stored, encoding, strict = false } = specOf(name);
    return [name, openRows(root, stored, encoding, onDamage && { onDamage, leavesOut: !strict })];
  });
  return Object.fromEntries(opened) as Tables;
}
