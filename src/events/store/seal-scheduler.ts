import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { SealedRows, Store, StoreReader } from '../../store/store.ts';
import { tables } from '../format/columns.ts';
import type { Table } from '../records.ts';

export interface SealSchedulerParts {
  readonly store: Pick<Store, 'switchSealing' | 'sealEvents'>;
  readonly reader: Pick<StoreReader, 'sealedUpTo' | 'head'>;
  /** Digests rows on another thread. */
  digest(query: { table: Table; from: number; maxRows: number }): Promise<SealedRows | undefined>;
  onTrouble(error: unknown): void;
  readonly intervalMs: number;
  /** Monotonic time in milliseconds. Default: since the start of the process. */
  readonly elapsed?: () => number;
}

/** Number of failed intervals after which sealing counts as stopped. */
const maxFailedIntervals = 10;
const unfinished = 'the current attempt has not finished';
/** Codes of temporary errors: the disk is full, or the pool is busy. */
const passing: readonly string[] = ['UNAVAILABLE', 'OVERLOADED'];

/**
 * Seals the new events of each interval in one log entry. The store commits which events are sealed, so the next
 * attempt continues where a failed or interrupted attempt stopped.
 */
export class SealScheduler {
  readonly #parts: SealSchedulerParts;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #elapsed: () => number;
  /** Monotonic time at which all stored events were last sealed, or of the start. */
  #sealedAt: number;
  #isRefused = false;
  #failure = unfinished;

  private constructor(parts: SealSchedulerParts) {
    this.#parts = parts;
    this.#elapsed = parts.elapsed ?? (() => performance.now());
    this.#sealedAt = this.#elapsed();
  }

  /**
   * Starts sealing.
   *
   * @param isOn - false to switch sealing off and return undefined
   */
  static async open(isOn: boolean, parts: SealSchedulerParts): Promise<SealScheduler | undefined> {
    await parts.store.switchSealing(isOn);
    if (!isOn) return undefined;
    const sealer = new SealScheduler(parts);
    sealer.#sealLater();
    return sealer;
  }

  /**
   * Seals stored events that are not sealed yet, at most limits.maxSealedRows of each table. Returns false if
   * there are no such events, or the outbox is full.
   */
  async seal(): Promise<boolean> {
    const found = await Promise.all(tables.map((table) => this.#range(table)));
    const ranges = found.filter((range) => range !== undefined);
    this.#isRefused = ranges.length > 0 && !(await this.#parts.store.sealEvents(ranges));
    return ranges.length > 0 && !this.#isRefused;
  }

  /** Returns when all stored events were last sealed, and how long ago. */
  status(): { readonly sealed_at: string; readonly lag_s: number } {
    const lagMs = this.#elapsed() - this.#sealedAt;
    return { sealed_at: new Date(Date.now() - lagMs).toISOString(), lag_s: lagMs / 1000 };
  }

  /** Returns the finding `sealing_stopped` if no attempt in ten intervals has sealed all stored events. */
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

  /** Seals the events stored so far. Events that do not fit into one entry are sealed by further entries. */
  async #sealStored(): Promise<void> {
    const { reader, onTrouble } = this.#parts;
    try {
      const heads = tables.map((table) => reader.head(`events.${table}`));
      const isDone = () => tables.every((table, i) => (reader.sealedUpTo(table) ?? Infinity) > heads[i]!);
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
      // Events after a gap are sealed by the next entry.
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
