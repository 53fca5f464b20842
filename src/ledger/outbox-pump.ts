import { errorCodes, ServiceError } from '../errors.ts';
import { datedForAppend } from './entry-window.ts';
import type { Appended, Ledger, UnsignedEntry } from './ledger.ts';
import { logLostAgain, type PlaceSource } from './lost-entries.ts';

/** Rows taken at once: a second's worth of entries, about a megabyte. */
const defaultBatch = 1000;
/** Waits between attempts while the ledger or the store can't: doubling, from the first to the second (ms). */
const defaultBackoffMs = [100, 10_000] as const;

/**
 * Where critical events wait that are committed and not yet logged. Rows come oldest first and stay until settled;
 * settling a row that is gone is no error.
 */
export interface OutboxSource<Update> extends PlaceSource<Update> {
  outbox(limit: number): Promise<readonly UnsignedEntry[]>;
  settle(settlements: readonly Appended[]): Promise<readonly Update[]>;
}

export interface OutboxPumpOptions<Update> {
  readonly source: OutboxSource<Update>;
  readonly ledger: Pick<Ledger, 'append' | 'leaf' | 'status'>;
  /** What settling changed: alerts that now carry their place in the log, or that lost it. */
  onUpdates(updates: readonly Update[]): void;
  /** An attempt failed; the rows stay, and the next one comes after a wait. */
  onRetry?(error: unknown, waitMs: number): void;
  /** The ledger refuses this row for good: a bug of whoever wrote it. It stays in the outbox; others go on. */
  onRefused(row: UnsignedEntry, error: unknown): void;
  /** Epoch milliseconds. Default: the clock of the host. */
  readonly now?: () => number;
  readonly batch?: number;
  readonly backoffMs?: readonly [first: number, most: number];
}

/**
 * Brings what waits in the outbox into the log and back: take rows, append, settle, report. A crash anywhere in
 * between repeats rows that are in the log already, and appending is idempotent by id, so that each is logged once.
 * Before the first row, what the log lost is put back into the outbox. One run at a time. Owner of what was refused.
 */
export class OutboxPump<Update> {
  readonly #options: OutboxPumpOptions<Update>;
  readonly #refused = new Set<string>();
  #running: Promise<void> | undefined;
  #pokedAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #searched = false;
  #closed = false;

  /** Starts at once with what an earlier process left behind. */
  constructor(options: OutboxPumpOptions<Update>) {
    this.#options = options;
    this.poke();
  }

  /** There may be rows. Cheap; call it after every commit that wrote some. */
  poke(): void {
    if (this.#closed || this.#timer !== undefined) return; // a wait ends by itself
    if (this.#running !== undefined) {
      this.#pokedAgain = true;
      return;
    }
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (!this.#pokedAgain) return;
      this.#pokedAgain = false;
      this.poke();
    });
  }

  /** Resolves when the outbox is drained, or when what is left has to wait for the ledger. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Lets the run under way finish and starts no other: what is left is drained by the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.idle();
  }

  async #run(): Promise<void> {
    const { source, ledger, onUpdates } = this.#options;
    try {
      if (!this.#searched) this.#searched = await logLostAgain(source, ledger, onUpdates);
      while (!this.#closed && (await this.#pump()));
      this.#failures = 0;
    } catch (error) {
      const [first, most] = this.#options.backoffMs ?? defaultBackoffMs;
      const waitMs = Math.min(most, first * 2 ** Math.min(this.#failures++, 30));
      this.#options.onRetry?.(error, waitMs);
      if (this.#closed) return;
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.poke();
      }, waitMs);
    }
  }

  /** One batch. True when there may be more. */
  async #pump(): Promise<boolean> {
    const { source, batch = defaultBatch, onUpdates } = this.#options;
    const taken = await source.outbox(batch + this.#refused.size);
    const rows = taken.filter((row) => !this.#refused.has(row.id));
    if (rows.length === 0) return false;
    const appended = await this.#append(rows);
    if (appended.length > 0) onUpdates(await source.settle(appended));
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

  /** A call is refused as a whole: finds the rows that are to blame. */
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

  /** The row as an entry; one that waited for days is dated by its append. */
  #entryOf({ id, kind, occurred_at, actor, subject, data }: UnsignedEntry): UnsignedEntry {
    const { now = Date.now } = this.#options;
    const entry = { id, kind, occurred_at, actor, subject: { type: subject.type, id: subject.id }, data };
    return datedForAppend(entry, now());
  }
}

/** An answer that trying again won't change. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && !errorCodes[error.code].retry && error.code !== 'INTERNAL';
}
