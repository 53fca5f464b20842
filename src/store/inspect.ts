import { join } from 'node:path';
import type { Alert } from '../contract/resources/alert.ts';
import { describeRange } from '../database/damage.ts';
import { openDatabase } from '../database/lmdb.ts';
import type { EventBlock } from '../events/format/block.ts';
import type { Table } from '../events/records.ts';
import { BlockStore, explicitIdsOf, idPartsOf, partsOf, storedBytes } from '../events/store/block-store.ts';
import { alteredEvents } from '../events/store/event-proof.ts';
import { EventStore } from '../events/store/event-store.ts';
import { checkAssets } from '../inventory/store/asset-check.ts';
import { limits } from '../limits.ts';
import { StoreScrub } from './store-scrub.ts';
import { databaseFile, laterTables, openTables, type Tables } from './tables.ts';

/** Number of rows in a siem.mdb. */
export interface StoreContents {
  readonly events: Readonly<Record<Table, number>>;
  readonly alerts: number;
  readonly outbox: number;
}

/** An alert that must be logged, and the position of its entry. */
export interface LoggedAlert {
  readonly id: string;
  /** Position of the entry in the log; undefined while the entry waits. */
  readonly place: Alert['transparency'];
  /** Whether the entry waits in the outbox. */
  readonly waits: boolean;
}

/**
 * Reads all data in a folder's siem.mdb, which no process may be writing: every row of every table and the header of
 * every block of events. Checks that the parts named by headers exist, that events are found by the ids that
 * senders chose, and that no data of removed blocks remains. Damaged blocks that the store set aside are
 * skipped. `onLogged` receives each alert whose entry is in the outbox or the log.
 *
 * @throws Error describing an unreadable or inconsistent part
 */
export async function inspectStore(folder: string, onLogged: (alert: LoggedAlert) => void): Promise<StoreContents> {
  const root = openDatabase(join(folder, databaseFile), { readOnly: true });
  try {
    const tables = openTables(root);
    const waiting = waitingAlerts(tables);
    for (const { value } of reading(tables, 'alerts')) {
      if (value.raised) onLogged({ id: value.id, place: value.alert.transparency, waits: waiting.has(value.id) });
    }
    // In a file opened for reading, a missing table is undefined.
    const missing = laterTables.filter((name) => tables[name] === undefined);
    for (const name of Object.keys(tables) as (keyof Tables)[])
      if (!missing.includes(name)) for (const _ of reading(tables, name));
    if (!missing.includes('principalTokens')) checkTokenIndex(tables);
    if (!missing.includes('assets')) checkAssets(tables);
    const blocks = new BlockStore(root);
    const events = { network: checkEvents(blocks, 'network'), dns: checkEvents(blocks, 'dns') };
    checkIndexes(blocks, Object.values(events));
    return {
      events: { network: events.network.rows, dns: events.dns.rows },
      alerts: tables.alerts.getKeysCount(),
      outbox: tables.outbox.getKeysCount(),
    };
  } finally {
    await root.close();
  }
}

/**
 * Returns all damage in a folder's siem.mdb, which no process may be writing. Includes ranges of events that the store
 * set aside. The tree of the file must be intact, because LMDB follows the tree.
 */
export async function findDamage(folder: string): Promise<readonly string[]> {
  const root = openDatabase(join(folder, databaseFile), { readOnly: true });
  try {
    const blocks = new BlockStore(root);
    const scrub = new StoreScrub({
      blocks,
      tables: openTables(root),
      isWriter: false,
      now: Date.now,
      onSetAside: () => undefined,
    });
    scrub.run();
    const { events, rows } = scrub.damage();
    return [...events.map(describeRange), ...rows.map((row) => `row ${row}`)];
  } finally {
    await root.close();
  }
}

/**
 * Returns ranges of stored events that differ from their seals, at most `limits.maxNamedDamage`. The tree of
 * the file must be intact.
 */
export async function findAltered(folder: string): Promise<readonly string[]> {
  const root = openDatabase(join(folder, databaseFile), { readOnly: true });
  try {
    const tables = openTables(root, () => undefined);
    if (tables.eventSeals === undefined) return [];
    const found: string[] = [];
    for (const altered of alteredEvents(tables, new EventStore(root))) {
      found.push(altered);
      if (found.length === limits.maxNamedDamage) break;
    }
    return found;
  } finally {
    await root.close();
  }
}

/** Yields the rows of a table. Errors name the table. */
function* reading<Name extends keyof Tables>(tables: Tables, name: Name): Iterable<RowOf<Name>> {
  try {
    yield* tables[name].getRange() as Iterable<RowOf<Name>>;
  } catch (error) {
    throw new Error(`table ${name} cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
}

type RowOf<Name extends keyof Tables> = ReturnType<Tables[Name]['getRange']> extends Iterable<infer Row> ? Row : never;

/**
 * Returns the ids of alerts in outbox rows, after checking the index by id. There are at most
 * limits.maxOutboxRows rows, plus the rows of one batch.
 */
function waitingAlerts(tables: Tables): Set<string> {
  const waiting = new Set<string>();
  for (const { key, value } of reading(tables, 'outbox')) {
    if (tables.outboxIds.get(value.id) !== key) throw new Error(`outbox row ${key} is not found by its id`);
    if (value.kind === 'alert.raised') waiting.add(value.subject.id);
  }
  return waiting;
}

/**
 * Checks the index of tokens by principal. A session that is missing from the index would survive a change of
 * the password.
 */
function checkTokenIndex({ tokens, principalTokens }: Tables): void {
  const [count, indexed] = [tokens.getKeysCount(), principalTokens.getKeysCount()];
  if (count !== indexed) throw new Error(`there are ${count} tokens, but ${indexed} in the index by principal`);
  for (const [, , jti] of principalTokens.getKeys())
    if (!tokens.doesExist(jti)) throw new Error(`token ${jti} is missing`);
}

/** Totals over blocks. */
interface Counted {
  rows: number;
  parts: number;
  /** Number of explicit ids, all of which are in the index. */
  ids: number;
}

function checkEvents(blocks: BlockStore, table: Table): Counted {
  const state = blocks.state(table);
  const counted: Counted = { rows: 0, parts: 0, ids: 0 };
  let count = 0;
  let bytes = 0;
  for (const { firstSeq, header } of blocks.headers(table, 0)) {
    counted.rows += header.rows;
    counted.parts += partsOf(header);
    counted.ids += checkIds(blocks, blocks.verify(table, firstSeq));
    bytes += storedBytes(header);
    count++;
  }
  const { rows } = counted;
  if (rows !== state.rows || count !== state.blocks) {
    throw new Error(
      `there are ${rows} ${table} events in ${count} blocks, but the counters are ${state.rows} events and ${state.blocks} blocks`,
    );
  }
  // The size of a block with a damaged header is not known.
  if (bytes !== state.bytes && blocks.damage(table).length === 0)
    throw new Error(`${table} events have ${bytes} bytes, but the counter is ${state.bytes}`);
  return counted;
}

/** Checks the ids of a block. Returns the number of events with an id from their sender. */
function checkIds(blocks: BlockStore, block: EventBlock): number {
  let count = 0;
  for (const { id, seq } of explicitIdsOf(block)) {
    count++;
    if (blocks.explicitId(block.table, id) !== seq)
      throw new Error(`${block.table} event ${seq} is not found by its id ${id}`);
  }
  return count;
}

/** Checks that nothing remains of removed blocks except ids that are still to be removed. */
function checkIndexes(blocks: BlockStore, stored: readonly Counted[]): void {
  // Parts and ids of damaged blocks are still stored.
  if (blocks.hasDamage) return;
  let parts = stored.reduce((sum, counted) => sum + counted.parts, 0);
  let ids = stored.reduce((sum, counted) => sum + counted.ids, 0);
  for (const block of blocks.retiredBlocks()) {
    parts += idPartsOf(block.header);
    for (const { id, seq } of explicitIdsOf(block)) if (blocks.explicitId(block.table, id) === seq) ids++;
  }
  const found = blocks.counts();
  if (found.parts !== parts || found.ids !== ids)
    throw new Error(
      `there are ${found.parts} parts of blocks and ${found.ids} ids of events, but the blocks have ${parts} and ${ids}`,
    );
}
