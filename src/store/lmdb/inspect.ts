import { join } from 'node:path';
import type { Alert } from '../../contract/resources/alert.ts';
import { tables as eventTables } from '../../events/columns.ts';
import type { Table } from '../../events/records.ts';
import { openDatabase } from '../../lmdb.ts';
import { BlockStore } from './block-store.ts';
import { checkAssets } from './inventory/asset-check.ts';
import { databaseFile, laterTables, openTables, type Tables } from './tables.ts';

/** What a siem.mdb holds. */
export interface StoreContents {
  readonly events: Readonly<Record<Table, number>>;
  readonly alerts: number;
  readonly outbox: number;
}

/** What an alert says of its entry in the log. */
export interface LoggedAlert {
  readonly id: string;
  /** Where the log has it; undefined while it waits. */
  readonly place: Alert['transparency'];
  /** Its entry waits in the outbox. */
  readonly waits: boolean;
}

/**
 * Reads everything in the siem.mdb of a folder that nobody writes to: every row of every table, every header of a
 * block of events, and that the parts which it names are there. `onLogged` is told of each alert whose entry is in the
 * outbox or the log.
 *
 * @throws Error that says what can't be read or doesn't add up.
 */
export async function inspectStore(
  folder: string,
  onLogged: (alert: LoggedAlert) => void,
): Promise<StoreContents> {
  const root = openDatabase(join(folder, databaseFile), { readOnly: true });
  try {
    const tables = openTables(root);
    const waiting = waitingAlerts(tables);
    for (const { value } of reading(tables, 'alerts')) {
      if (value.raised)
        onLogged({ id: value.id, place: value.alert.transparency, waits: waiting.has(value.id) });
    }
    // Opened for reading, a table that a file doesn't have is undefined.
    const missing = laterTables.filter((name) => tables[name] === undefined);
    for (const name of Object.keys(tables) as (keyof Tables)[])
      if (!missing.includes(name)) for (const _ of reading(tables, name));
    if (!missing.includes('principalTokens')) checkTokenIndex(tables);
    if (!missing.includes('assets')) checkAssets(tables);
    const blocks = new BlockStore(root);
    const events = Object.fromEntries(eventTables.map((table) => [table, countEvents(blocks, table)]));
    return {
      events: events as Record<Table, number>,
      alerts: tables.alerts.getKeysCount(),
      outbox: tables.outbox.getKeysCount(),
    };
  } finally {
    await root.close();
  }
}

/** Rows of a table; what can't be read is told with the table's name. */
function* reading<Name extends keyof Tables>(tables: Tables, name: Name): Iterable<RowOf<Name>> {
  try {
    yield* tables[name].getRange() as Iterable<RowOf<Name>>;
  } catch (error) {
    throw new Error(
      `table ${name} cannot be read (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}

type RowOf<Name extends keyof Tables> =
  ReturnType<Tables[Name]['getRange']> extends Iterable<infer Row> ? Row : never;

/** Alerts that an outbox row is about, and a row for each id: at most limits.maxOutboxRows and a batch. */
function waitingAlerts(tables: Tables): Set<string> {
  const waiting = new Set<string>();
  for (const { key, value } of reading(tables, 'outbox')) {
    if (tables.outboxIds.get(value.id) !== key) throw new Error(`outbox row ${key} is not found by its id`);
    if (value.kind === 'alert.raised') waiting.add(value.subject.id);
  }
  return waiting;
}

/** A session that the index lacks would outlive the password that began it. */
function checkTokenIndex({ tokens, principalTokens }: Tables): void {
  const [count, indexed] = [tokens.getKeysCount(), principalTokens.getKeysCount()];
  if (count !== indexed)
    throw new Error(`there are ${count} tokens, where the index by principal has ${indexed}`);
  for (const [, , jti] of principalTokens.getKeys())
    if (!tokens.doesExist(jti)) throw new Error(`token ${jti} is missing`);
}

function countEvents(blocks: BlockStore, table: Table): number {
  const state = blocks.state(table);
  let rows = 0;
  let count = 0;
  for (const { firstSeq, header } of blocks.headers(table, 0)) {
    const part = blocks.damagedPart(firstSeq, header);
    if (part !== undefined)
      throw new Error(`part ${part} of block ${firstSeq} of ${table} events is damaged`);
    rows += header.rows;
    count++;
  }
  if (rows !== state.rows || count !== state.blocks) {
    throw new Error(
      `there are ${rows} ${table} events in ${count} blocks, where ${state.rows} in ${state.blocks} were counted`,
    );
  }
  return rows;
}
