import { type CriticalEvent, entryOf } from '../contract/critical-events.ts';
import { lastSequence } from '../database/rows.ts';
import { invalidField, ServiceError } from '../errors.ts';
import { noteEntry } from '../identities/store/call-entries.ts';
import { limits } from '../limits.ts';
import { canonicalUuid, uuid7 } from '../uuid.ts';
import type { OutboxRow } from './store.ts';
import type { Tables } from './tables.ts';

/**
 * Critical events that wait for the log, oldest first. A row is written in the transaction of the change that
 * it reports, and removed in the transaction that records its position in the ledger.
 */
export class Outbox {
  /**
   * Number of waiting rows. Only this class changes the rows, and the number is read again after an aborted
   * transaction.
   */
  #rows = 0;
  /** Sequence of the newest row. */
  #last = 0;
  readonly #tables: Tables;
  readonly #maxRows: number;

  constructor(tables: Tables, maxRows: number = limits.maxOutboxRows) {
    this.#tables = tables;
    this.#maxRows = maxRows;
    this.reload();
  }

  reload(): void {
    this.#last = lastSequence(this.#tables.outbox);
    this.#rows = this.#last === 0 ? 0 : this.#tables.outbox.getKeysCount();
  }

  get rows(): number {
    return this.#rows;
  }

  /** Sequence of the newest row since the start, including settled rows; 0 before the first row. */
  get head(): number {
    return this.#last;
  }

  /**
   * Rejects a change that must be logged and needs `rows` rows, if there is no room for the rows. Must be
   * called before any write. A change whose rows are not known in advance may exceed the limit.
   *
   * @throws UNAVAILABLE (`outbox_full`)
   */
  requireRoom(rows = 1): void {
    if (this.#rows + rows <= this.#maxRows) return;
    throw new ServiceError(
      'UNAVAILABLE',
      `${this.#rows} critical events wait for the transparency log, which does not accept entries; nothing was changed`,
      { reason: 'outbox_full' },
    );
  }

  get hasRoom(): boolean {
    return this.#rows < this.#maxRows;
  }

  has(id: string): boolean {
    return this.#tables.outboxIds.doesExist(id);
  }

  /**
   * Adds a row. `id` becomes the id of the entry and must be new. `call` is the API call that caused the
   * event, if any. Must be called within a transaction.
   */
  add(event: CriticalEvent, nowMs: number, call?: string, id: string = uuid7(nowMs)): void {
    const seq = this.#last + 1;
    this.#tables.outbox.putSync(seq, entryOf(event, id, nowMs));
    this.#tables.outboxIds.putSync(id, seq);
    if (call !== undefined) noteEntry(this.#tables, call, { id, seq }, nowMs);
    this.#last = seq;
    this.#rows++;
  }

  oldest(limit: number): OutboxRow[] {
    return Array.from(this.#tables.outbox.getRange({ limit }), ({ value }) => value);
  }

  /**
   * Removes a row and returns it; undefined if the row was already settled. Must be called within a
   * transaction.
   */
  remove(id: string): OutboxRow | undefined {
    const seq = this.#tables.outboxIds.get(id);
    if (seq === undefined) return undefined;
    const row = this.#tables.outbox.get(seq);
    this.#tables.outboxIds.removeSync(id);
    this.#tables.outbox.removeSync(seq);
    this.#rows--;
    return row;
  }
}

/**
 * Plans an outbox row for an event that belongs to no other change. If an event with this id already waits,
 * the plan has no effect.
 */
export function planRecord(outbox: Outbox, event: CriticalEvent, id: string | undefined, nowMs: number): () => void {
  if (id !== undefined && canonicalUuid(id) !== id) throw invalidField('id', 'must be a UUID in lower case');
  if (id !== undefined && outbox.has(id)) return () => {};
  outbox.requireRoom();
  return () => outbox.add(event, nowMs, undefined, id);
}
