import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { uuid7 } from '../../uuid.ts';
import type { OutboxRow } from '../store.ts';
import { lastSequence, type Tables } from './tables.ts';

/** Characters kept of one text in an entry: with JCS's escapes (6 bytes each) a dozen fit limits.maxEntryBytes. */
const maxEntryText = 500;

/**
 * Critical events on their way to the log, oldest first. A row is written in the transaction of the change that it
 * tells of and removed in the one that notes where the ledger put it.
 */
export class Outbox {
  /** Rows waiting, and the sequence of the newest: owned here, read anew after an undone transaction. */
  #rows = 0;
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

  /**
   * Refuses a change that must be logged while too much waits. Called before anything is written; the rows of the
   * change that is let in may carry the outbox past the limit by what one change can raise.
   */
  requireRoom(): void {
    if (this.#rows < this.#maxRows) return;
    throw new ServiceError(
      'UNAVAILABLE',
      `${this.#rows} critical events wait for the transparency log, which takes none; nothing was changed`,
      { reason: 'outbox_full' },
    );
  }

  /** Within a transaction. */
  add(row: Omit<OutboxRow, 'id' | 'occurred_at'>, nowMs: number): void {
    const id = uuid7(nowMs);
    const seq = this.#last + 1;
    this.#tables.outbox.putSync(seq, { id, occurred_at: new Date(nowMs).toISOString(), ...row });
    this.#tables.outboxIds.putSync(id, seq);
    this.#last = seq;
    this.#rows++;
  }

  oldest(limit: number): OutboxRow[] {
    return Array.from(this.#tables.outbox.getRange({ limit }), ({ value }) => value);
  }

  /** Removes a row and returns it; undefined where it was settled before. Within a transaction. */
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

/** A text fit for an entry: bounded, and well-formed, because JCS refuses lone surrogates. */
export function entryText(text: string): string {
  return text.slice(0, maxEntryText).toWellFormed();
}
