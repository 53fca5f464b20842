import { ServiceError } from '../errors.ts';
import { tables } from '../events/columns.ts';
import type { Table } from '../events/records.ts';
import { limits } from '../limits.ts';
import type { SealedRows, Store, StoreReader } from './store.ts';

export interface EventSealerParts {
  readonly store: Pick<Store, 'switchSealing' | 'sealEvents'>;
  readonly reader: Pick<StoreReader, 'sealedUpTo' | 'head'>;
  /** Digests rows on another thread. */
  digest(query: { table: Table; from: number; maxRows: number }): Promise<SealedRows | undefined>;
  onTrouble(error: unknown): void;
  readonly intervalMs: number;
  /** Monotonic milliseconds. Default: since the start of the process. */
  readonly elapsed?: () => number;
}

/** Sealing counts as stopped after this many failed intervals. */
const maxFailedIntervals = 10;
const unfinished = 'the current attempt has not finished';
/** Temporary errors: the disk is full, or the pool is busy. */
const passing: readonly string[] = ['UNAVAILABLE', 'OVERLOADED'];

/**
 * Seals the new events of each interval in one log entry. Keeps no state in memory: the store commits which
 * events are sealed, and a failed or interrupted attempt continues from there.
 */
export class EventSealer {
  readonly #parts: EventSealerParts;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #elapsed: () => number;
  /** When everything stored was last sealed, or the start; monotonic clock. */
  #sealedAt: number;
  #isRefused = false;
  #failure = unfinished;

  private constructor(parts: EventSealerParts) {
    this.#parts = parts;
    this.#elapsed = parts.elapsed ?? (() => performance.now());
    this.#sealedAt = this.#elapsed();
  }

  /** Starts sealing. @param isOn - if false, sealing is switched off, and undefined is returned */
  static async open(isOn: boolean, parts: EventSealerParts): Promise<EventSealer | undefined> {
    await parts.store.switchSealing(isOn);
    if (!isOn) return undefined;
    const sealer = new EventSealer(parts);
    sealer.#sealLater();
    return sealer;
  }

  /**
   * Seals stored events that are not sealed yet, at most limits.maxSealedRows of each table. Returns false if
   * everything was sealed already.
   */
  async seal(): Promise<boolean> {
    const found = await Promise.all(tables.map((table) => this.#range(table)));
    const ranges = found.filter((range) => range !== undefined);
    this.#isRefused = ranges.length > 0 && !(await this.#parts.store.sealEvents(ranges));
    return ranges.length > 0 && !this.#isRefused;
  }

  /** Returns when everything stored was last sealed, and how long ago. */
  status(): { readonly sealed_at: string; readonly lag_s: number } {
    const lagMs = this.#elapsed() - this.#sealedAt;
    return { sealed_at: new Date(Date.now() - lagMs).toISOString(), lag_s: lagMs / 1000 };
  }

  /** Returns `sealing_stopped` once no attempt in ten intervals has sealed everything stored. */
  findings(): { readonly code: 'sealing_stopped'; readonly message: string; readonly since: string }[] {
    const { sealed_at: since, lag_s } = this.status();
    if (lag_s * 1000 <= maxFailedIntervals * this.#parts.intervalMs) return [];
    return [{ code: 'sealing_stopped', message: `new events are not sealed: ${this.#failure}`, since }];
  }

  /** Seals the remaining events. Events that the log does not accept are sealed after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    await this.#sealStored();
  }

  #sealLater(): void {
    this.#timer = setTimeout(() => {
      this.#running = this.#sealStored().then(() => {
        if (!this.#isClosed) this.#sealLater();
      });
    }, this.#parts.intervalMs).unref();
  }

  /** Seals the events stored so far. Events that do not fit into one entry make further entries. */
  async #sealStored(): Promise<void> {
    const { reader, onTrouble } = this.#parts;
    const heads = tables.map((table) => reader.head(`events.${table}`));
    const isDone = () => tables.every((table, i) => (reader.sealedUpTo(table) ?? Infinity) > heads[i]!);
    try {
      this.#isRefused = false;
      while (!isDone() && (await this.seal()));
      if (this.#isRefused) this.#failure = 'the outbox is full';
      else {
        this.#sealedAt = this.#elapsed();
        this.#failure = unfinished;
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      if (!(error instanceof ServiceError) || !passing.includes(error.code)) onTrouble(error);
    }
  }

  async #range(table: Table): Promise<SealedRows | undefined> {
    const from = this.#parts.reader.sealedUpTo(table);
    if (from === undefined) return undefined;
    const maxRows = limits.sealTaskRows;
    let range: SealedRows | undefined;
    for (;;) {
      const next = range === undefined ? from : range.first_seq + range.rows;
      const part = await this.#parts.digest({ table, from: next, maxRows });
      // The events after a gap go into the next entry.
      if (part === undefined || (range !== undefined && part.first_seq !== next)) return range;
      range = range === undefined ? part : joined(range, part);
      if (part.rows < maxRows || range.rows >= limits.maxSealedRows) return range;
    }
  }
}

const joined = (range: SealedRows, part: SealedRows): SealedRows => ({
  ...range,
  rows: range.rows + part.rows,
  batches: Buffer.concat([range.batches, part.batches]),
  last_received: part.last_received,
});
