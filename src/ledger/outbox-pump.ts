import { errorCodes, ServiceError } from '../errors.ts';
import { datedForAppend } from './entry-window.ts';
import type { Appended, Ledger, UnsignedEntry } from './ledger.ts';
import { logLostAgain, type PositionSource } from './lost-entries.ts';

/** Rows per batch: about one second's worth of entries, about a megabyte. */
const defaultBatch = 1000;
/** Minimum and maximum delay after a failure, in milliseconds. The delay doubles with each further failure. */
const defaultBackoffMs = [100, 10_000] as const;

/**
 * The outbox of critical events that are committed but not yet logged. Rows come oldest first and stay until
 * settled. Settling a missing row is not an error.
 */
export interface OutboxSource extends PositionSource {
  outbox(limit: number): Promise<readonly UnsignedEntry[]>;
  settle(settlements: readonly Appended[]): Promise<void>;
}

export interface OutboxPumpOptions {
  readonly source: OutboxSource;
  readonly ledger: Pick<Ledger, 'append' | 'leaf' | 'status'>;
  /** Called after a failed attempt; the rows stay, and the next attempt follows after `waitMs`. */
  onRetry?(error: unknown, waitMs: number): void;
  /**
   * Called when the ledger permanently refuses a row, which is a bug in the code that wrote the row. The row stays
   * in the outbox; other rows continue.
   */
  onRefused(row: UnsignedEntry, error: unknown): void;
  /** Returns the current time in epoch milliseconds. Default: the host clock. */
  readonly now?: () => number;
  readonly batch?: number;
  readonly backoffMs?: readonly [first: number, most: number];
}

/**
 * Moves outbox rows into the log: takes rows, appends them, settles them. A crash in between repeats rows that are
 * already in the log; because appending is idempotent by id, each is logged once. Before the first row is taken,
 * entries that the log lost are put back into the outbox. Runs are sequential. Owns the set of refused rows.
 */
export class OutboxPump {
  readonly #options: OutboxPumpOptions;
  readonly #refused = new Set<string>();
  #running: Promise<void> | undefined;
  #pokedAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #searched = false;
  #closed = false;

  /** Starts the pump immediately, because an earlier process may have left rows. */
  constructor(options: OutboxPumpOptions) {
    this.#options = options;
    this.wake();
  }

  /** Starts a run, because there may be new rows. Cheap, so call it after every commit that wrote rows. */
  wake(): void {
    if (this.#closed || this.#timer !== undefined) return; // the timer calls `wake`
    if (this.#running !== undefined) {
      this.#pokedAgain = true;
      return;
    }
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (!this.#pokedAgain) return;
      this.#pokedAgain = false;
      this.wake();
    });
  }

  /** Resolves when the outbox is drained, or when the remaining rows have to wait for the ledger. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Finishes the current run and starts no further run. The remaining rows are drained after the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.idle();
  }

  async #run(): Promise<void> {
    const { source, ledger } = this.#options;
    try {
      if (!this.#searched) this.#searched = await logLostAgain(source, ledger);
      while (!this.#closed && (await this.#pump()));
      this.#failures = 0;
    } catch (error) {
      const [first, most] = this.#options.backoffMs ?? defaultBackoffMs;
      const waitMs = Math.min(most, first * 2 ** Math.min(this.#failures++, 30));
      this.#options.onRetry?.(error, waitMs);
      if (this.#closed) return;
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.wake();
      }, waitMs);
    }
  }

  /** Processes one batch. Returns true if there may be more rows. */
  async #pump(): Promise<boolean> {
    const { source, batch = defaultBatch } = this.#options;
    const taken = await source.outbox(batch + this.#refused.size);
    const rows = taken.filter((row) => !this.#refused.has(row.id));
    if (rows.length === 0) return false;
    const appended = await this.#append(rows);
    if (appended.length > 0) await source.settle(appended);
    this.#failures = 0;
    return true;
  }

  async #append(rows: readonly UnsignedEntry[]): Promise<Appended[]> {
    try {
      return await this.#options.ledger.append(rows.map((row) => this.#entryOf(row)));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.#appendEach(rows);
    }
  }

  /** Appends rows one by one to find the rows that are refused, because a call is refused as a whole. */
  async #appendEach(rows: readonly UnsignedEntry[]): Promise<Appended[]> {
    const appended: Appended[] = [];
    for (const row of rows) {
      try {
        appended.push(...(await this.#options.ledger.append([this.#entryOf(row)])));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        this.#refused.add(row.id);
        this.#options.onRefused(row, error);
      }
    }
    return appended;
  }

  /** Returns the row as an entry. An entry outside the append window gets the time of its append. */
  #entryOf({ id, kind, occurred_at, actor, subject, data }: UnsignedEntry): UnsignedEntry {
    const { now = Date.now } = this.#options;
    const entry = { id, kind, occurred_at, actor, subject: { type: subject.type, id: subject.id }, data };
    return datedForAppend(entry, now());
  }
}

/** Returns whether a retry cannot succeed. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && !errorCodes[error.code].retry && error.code !== 'INTERNAL';
}
