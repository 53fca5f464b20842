import { takeDamagedRows } from '../contract/damaged-rows.ts';
import { damageMessage, skippedMessage } from '../database/damage.ts';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Pool, TaskTable } from '../rpc/pool.ts';
import type { Store } from './store.ts';

/** A finding in the form of the API contract. */
interface Finding {
  readonly code: 'store_damaged' | 'events_altered' | 'events_skipped';
  readonly message: string;
  readonly since: string;
}

/** Maximum number of repetitions of a query that finds damaged blocks. After that, the query fails. */
const maxRepeats = 16;

/**
 * Tracks the damage of siem.mdb that the main thread knows of. If a read finds a damaged block, the store sets the
 * block aside, and the read is repeated.
 */
export class SiemDamage {
  readonly #store: Pick<Store, 'damage' | 'reportDamage'>;
  readonly #nowMs: () => number;
  #findings: readonly Finding[] = [];
  /** The first alteration found by a proof. Kept until the service stops, because an alteration is evidence. */
  #altered: Finding | undefined;
  /** Damaged rows that were already reported. */
  readonly #reported = new Set<string>();

  constructor(store: Pick<Store, 'damage' | 'reportDamage'>, nowMs: () => number) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  async refresh(): Promise<void> {
    const damage = await this.#store.damage();
    const found = { store_damaged: damageMessage(damage), events_skipped: skippedMessage(damage) };
    this.#findings = (['store_damaged', 'events_skipped'] as const).flatMap((code) => {
      const message = found[code];
      if (message === undefined) return [];
      const known = this.#findings.find((finding) => finding.code === code);
      return [{ code, message, since: known?.since ?? new Date(this.#nowMs()).toISOString() }];
    });
  }

  /**
   * Returns `store_damaged` if there is known damage, `events_skipped` if events are not processed, and
   * `events_altered` if an alteration was found.
   */
  findings(): readonly Finding[] {
    return [...this.#findings, ...(this.#altered === undefined ? [] : [this.#altered])];
  }

  /** Reports the damage that made a read fail. Returns true if repeating the read may succeed. */
  async report(error: unknown): Promise<boolean> {
    if (error instanceof ServiceError && error.details?.reason === 'events_altered') {
      const since = new Date(this.#nowMs()).toISOString();
      this.#altered ??= { code: 'events_altered', message: error.message, since };
    }
    if (!(error instanceof ServiceError) || error.details?.reason !== 'data_damaged') return false;
    const { table, block } = error.details;
    if (typeof table !== 'string') return false;
    const isBlock = typeof block === 'number';
    await this.#store.reportDamage(isBlock ? { table, block } : { table });
    await this.refresh();
    return isBlock;
  }

  /**
   * Reports rows that were not reported yet. After `limits.maxNamedDamage` rows, all earlier reports are forgotten, so
   * that rows may be reported again.
   */
  async #reportRows(rows: readonly string[]): Promise<void> {
    const fresh = rows.filter((row) => !this.#reported.has(row));
    if (fresh.length === 0) return;
    if (this.#reported.size > limits.maxNamedDamage) this.#reported.clear();
    for (const row of fresh) this.#reported.add(row);
    await Promise.all(fresh.map((row) => this.#store.reportDamage({ table: row.slice(0, row.indexOf(' ')), row })));
    await this.refresh();
  }

  /** Wraps a pool so that tasks that found damaged blocks are repeated without these blocks. */
  repeating<Tasks extends TaskTable<Tasks>>(pool: Pool<Tasks>): Pool<Tasks> {
    return {
      run: async (task, input, options) => {
        for (let repeats = 0; ; repeats++) {
          try {
            const result = await pool.run(task, input, options);
            await this.#reportRows(takeDamagedRows(result));
            return result;
          } catch (error) {
            if (!(await this.report(error)) || repeats === maxRepeats) throw error;
          }
        }
      },
      stats: () => pool.stats(),
      close: () => pool.close(),
    };
  }
}
