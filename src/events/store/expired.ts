import { eventsExpired } from '../../contract/critical-events.ts';
import type { ExpiryReason } from '../../contract/vocabulary.ts';
import { limits } from '../../limits.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { Table } from '../records.ts';
import type { OldBlock } from './expiry.ts';
import type { EventTables } from './tables.ts';

/** Counts of the events that retention removed from one table for one reason. */
export interface ExpiredRow {
  /** Total number of events since the file was created. */
  readonly events: number;
  /** Total bytes since the file was created. */
  readonly bytes: number;
  /** Time of the last log entry, epoch milliseconds. */
  readonly told_at?: number;
  /** Removals since the last log entry. */
  readonly untold?: Untold;
}

interface Untold {
  /** The first removed sequence. */
  readonly from: number;
  /** The sequence after the last removed event. */
  readonly to: number;
  readonly count: number;
  readonly bytes: number;
  /** Receipt time of the first removed event, epoch milliseconds. */
  readonly oldest: number;
  /** Receipt time of the last removed event, epoch milliseconds. */
  readonly newest: number;
}

export type ExpiredKey = [table: Table, reason: ExpiryReason];

/**
 * Counts of the events that retention removed. The counts are updated in the transaction that removes events. They are
 * reported to the transparency log in at most one entry an hour for each table and reason. While the log does not
 * accept entries, retention continues, because disk space is bounded. The counts accumulate, so that later entries
 * include all removals.
 */
export class Expired {
  readonly #table: EventTables['expired'];
  readonly #outbox: Pick<Outbox, 'hasRoom' | 'add'>;

  constructor(tables: Pick<EventTables, 'expired'>, outbox: Pick<Outbox, 'hasRoom' | 'add'>) {
    this.#table = tables.expired;
    this.#outbox = outbox;
  }

  /** Counts a removed block. Must be called in the transaction that removes the block. */
  note({ table, from, to, receivedFrom, received, bytes }: OldBlock, reason: ExpiryReason): void {
    const row = this.#table.get([table, reason]);
    const { untold } = row ?? {};
    const events = to - from;
    this.#table.putSync([table, reason], {
      ...row,
      events: (row?.events ?? 0) + events,
      bytes: (row?.bytes ?? 0) + bytes,
      untold: {
        from: untold?.from ?? from,
        to,
        count: (untold?.count ?? 0) + events,
        bytes: (untold?.bytes ?? 0) + bytes,
        oldest: Math.min(untold?.oldest ?? receivedFrom, receivedFrom),
        newest: Math.max(untold?.newest ?? received, received),
      },
    });
  }

  /** Returns whether an entry is due and the outbox has room. */
  isDue(nowMs: number): boolean {
    return this.#outbox.hasRoom && this.#due(nowMs).length > 0;
  }

  /** Adds due entries to the outbox. Must be called in a transaction. */
  tell(nowMs: number): void {
    for (const { key, value } of this.#due(nowMs)) {
      if (!this.#outbox.hasRoom) return;
      const { untold, ...row } = value;
      const [table, reason] = key;
      const { from, to, count, bytes, oldest, newest } = untold!;
      const iso = (time: number) => new Date(time).toISOString();
      const told = { from_seq: from, to_seq: to, count, bytes, oldest: iso(oldest), newest: iso(newest) };
      this.#outbox.add(eventsExpired({ table, reason, ...told }, 'system'), nowMs);
      this.#table.putSync(key, { ...row, told_at: nowMs });
    }
  }

  /** Returns totals since the file was created. */
  totals(): {
    readonly table: Table;
    readonly reason: ExpiryReason;
    readonly events: number;
    readonly bytes: number;
  }[] {
    return this.#rows().map(({ key: [table, reason], value: { events, bytes } }) => ({
      table,
      reason,
      events,
      bytes,
    }));
  }

  /**
   * Returns the rows for which an entry is due. A `told_at` in the future was written while the clock was ahead, and
   * is ignored.
   */
  #due(nowMs: number) {
    return this.#rows().filter(
      ({ value: { untold, told_at = 0 } }) =>
        untold !== undefined && (told_at > nowMs || nowMs - told_at >= limits.expiredEntryEveryMs),
    );
  }

  #rows() {
    return [...this.#table.getRange({})];
  }
}
