import { eventsSealed } from '../../contract/critical-events.ts';
import { sha256 } from '../../crypto/sha256.ts';
import { lastSequence } from '../../database/rows.ts';
import { ServiceError } from '../../errors.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { SealedRows } from '../../store/store.ts';
import { bytesToHex } from '../../tlog/hex.ts';
import { rootOf } from '../../tlog/leaf-hashes.ts';
import { uuid7 } from '../../uuid.ts';
import { tables as eventTables } from '../format/columns.ts';
import type { Table } from '../records.ts';
import type { EventStore } from './event-store.ts';
import type { EventTables } from './tables.ts';

/** The ranges of events that one log entry covers, at most one range per table. */
export interface SealRow {
  readonly entry_id: string;
  readonly ranges: readonly SealedRows[];
}

type SealTables = Pick<EventTables, 'eventSeals' | 'eventSealPlaces' | 'sealedUpTo'>;

/** Maximum number of old ranges that are checked per call. */
const removedAtOnce = 128;

/**
 * Ranges of stored events whose Merkle root is in the log. A range, its outbox row and the end of the sealed rows of
 * its table are committed together. Therefore, each row that is stored while sealing is on is in exactly one range.
 */
export class SealStore {
  readonly #tables: SealTables;
  readonly #events: Pick<EventStore, 'next' | 'firstStored'>;

  constructor(tables: SealTables, events: Pick<EventStore, 'next' | 'firstStored'>) {
    this.#tables = tables;
    this.#events = events;
  }

  isSwitched(isOn: boolean): boolean {
    return eventTables.every((table) => this.#tables.sealedUpTo.doesExist(table) === isOn);
  }

  /**
   * Switches sealing on or off. After it is switched on, sealing begins with the next row of each table. Must be
   * called in a transaction.
   */
  switch(isOn: boolean): void {
    const { sealedUpTo } = this.#tables;
    for (const table of eventTables) {
      if (!isOn) sealedUpTo.removeSync(table);
      else if (!sealedUpTo.doesExist(table)) sealedUpTo.putSync(table, this.#events.next(table));
    }
    this.#removeExpired();
  }

  /**
   * Stores ranges and adds the entry that covers them to the outbox. Returns false if the outbox is full.
   * Must be called in a transaction.
   *
   * @throws CONFLICT if sealing is off, or a range begins before the end of the sealed ranges or has rows that are not
   *   stored
   */
  add(ranges: readonly SealedRows[], outbox: Pick<Outbox, 'hasRoom' | 'add'>, nowMs: number): boolean {
    const { eventSeals, eventSealPlaces, sealedUpTo } = this.#tables;
    if (!outbox.hasRoom) return false;
    for (const { table, first_seq, rows } of ranges) {
      const upTo = sealedUpTo.get(table) ?? Number.POSITIVE_INFINITY;
      if (first_seq < upTo || first_seq + rows > this.#events.next(table))
        throw new ServiceError('CONFLICT', `${table} events from ${first_seq} are already sealed or not stored`);
    }
    const place = lastSequence(eventSeals) + 1;
    for (const { table, first_seq, rows } of ranges) {
      sealedUpTo.putSync(table, first_seq + rows);
      eventSealPlaces.putSync([table, first_seq + rows - 1], place);
    }
    this.#log(place, ranges, outbox, nowMs);
    this.#removeExpired();
    return true;
  }

  /** Creates new entries for ranges whose entries the log has lost. Must be called in a transaction. */
  logAgain(places: readonly number[], outbox: Pick<Outbox, 'add'>, nowMs: number): void {
    for (const place of places) {
      const seal = this.#tables.eventSeals.get(place);
      if (seal !== undefined) this.#log(place, seal.ranges, outbox, nowMs);
    }
  }

  #log(place: number, ranges: readonly SealedRows[], outbox: Pick<Outbox, 'add'>, nowMs: number): void {
    const entryId = uuid7(nowMs);
    const logged = ranges.map(({ batches, ...range }) => ({
      ...range,
      events_root: bytesToHex(rootOf(sha256, batches)),
    }));
    outbox.add(eventsSealed({ ranges: logged }), nowMs, undefined, entryId);
    this.#tables.eventSeals.putSync(place, { entry_id: entryId, ranges });
  }

  /** Removes the oldest ranges that no longer have stored events. */
  #removeExpired(): void {
    const { eventSeals, eventSealPlaces } = this.#tables;
    const expired: { key: number; value: SealRow }[] = [];
    for (const row of eventSeals.getRange({ limit: removedAtOnce })) {
      const isStored = row.value.ranges.some(
        ({ table, first_seq, rows }) => first_seq + rows > this.#events.firstStored(table),
      );
      if (isStored) break;
      expired.push(row);
    }
    for (const { key, value } of expired) {
      for (const { table, first_seq, rows } of value.ranges) eventSealPlaces.removeSync([table, first_seq + rows - 1]);
      eventSeals.removeSync(key);
    }
  }
}

/** Returns the range that contains a row, and the entry that covers it. */
export function sealOf(
  { eventSeals, eventSealPlaces }: SealTables,
  table: Table,
  seq: number,
): { readonly entry_id: string; readonly range: SealedRows } | undefined {
  for (const { key, value } of eventSealPlaces.getRange({ start: [table, seq], limit: 1 })) {
    const seal = key[0] === table ? eventSeals.get(value) : undefined;
    const range = seal?.ranges.find((one) => one.table === table);
    if (seal !== undefined && range !== undefined && range.first_seq <= seq) return { entry_id: seal.entry_id, range };
  }
  return undefined;
}
