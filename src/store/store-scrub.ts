import type { AlertTables } from '../alerts/store/tables.ts';
import type { StoreDamage } from '../database/damage.ts';
import { entryCount } from '../database/rows.ts';
import type { ServiceError } from '../errors.ts';
import { tables as eventTables } from '../events/format/columns.ts';
import type { Table } from '../events/records.ts';
import type { BlockStore } from '../events/store/block-store.ts';
import { DamagedBlockError } from '../events/store/damaged-range.ts';
import { limits } from '../limits.ts';
import type { Tables } from './tables.ts';

/** Progress of the scrub, stored across restarts. Times are epoch milliseconds. */
export interface ScrubState {
  readonly passBeganAt: number;
  /** End of the pass; undefined while it is running. */
  readonly passEndedAt?: number | undefined;
  /** Number of blocks and rows to check in this pass, counted at its start. */
  readonly total: number;
  /** Number of blocks and rows checked in this pass so far. */
  readonly checked: number;
  /** Approximate number of steps of the pass. */
  readonly steps: number;
  /** Index of the table that is being checked. */
  readonly part: number;
  /** Key at which to continue in this table. */
  readonly next?: unknown;
  readonly damaged: number;
  readonly lastPass?: { readonly endedAt: number; readonly damaged: number };
  /** Damaged rows found by this pass or the previous pass, at most `limits.maxNamedDamage`. */
  readonly rows: readonly string[];
}

export interface ScrubParts {
  readonly blocks: BlockStore;
  readonly tables: Tables;
  /** Whether the file is open for writing. */
  readonly isWriter: boolean;
  now(): number;
  onSetAside(): void;
}

const nothing = { total: 0, checked: 0, steps: 0, part: 0, damaged: 0 };

/** Number of rows of a table checked in one step of a few milliseconds. */
const rowsPerStep = 2048;
const hourMs = 3_600_000;
/** Maximum duration of a pass: half a day. */
const passMs = 12 * hourMs;
const pauseMs = 1000;
const saveEveryMs = 60_000;

/**
 * Reads all blocks and rows of siem.mdb in the background, from disk. Damaged blocks are set aside, damaged rows are
 * recorded, index entries that do not lead from an id to its event are written again, and checksums are added to data
 * of earlier versions.
 */
export class StoreScrub {
  readonly #parts: ScrubParts;
  readonly #names: readonly (Table | keyof Tables)[];
  state: ScrubState;
  #savedAt = 0;

  constructor(parts: ScrubParts) {
    this.#parts = parts;
    const { tables } = parts;
    const names = (Object.keys(tables) as (keyof Tables)[]).filter((name) => tables[name] !== undefined);
    this.#names = [...eventTables, ...names];
    const known = tables.scrubState?.get('siem');
    this.state = known ?? { passBeganAt: 0, passEndedAt: 0, ...nothing, rows: [] };
  }

  /**
   * Milliseconds until the next step. A pass begins an hour after the start of the previous pass, but not before
   * that pass has ended.
   */
  get pauseMs(): number {
    const { passBeganAt, passEndedAt, steps } = this.state;
    if (passEndedAt !== undefined) return Math.max(pauseMs, passBeganAt + hourMs - this.#parts.now());
    return Math.min(pauseMs, passMs / (1 + steps));
  }

  /**
   * Checks the next block or rows. Must be called within a transaction. After the last block or row, the pass
   * ends; the next step begins another pass.
   */
  step(): void {
    const { state } = this;
    if (state.passEndedAt !== undefined) this.#begin();
    else if (state.part >= this.#names.length) this.#end();
    else if (state.part < eventTables.length) this.#checkBlock(eventTables[state.part]!);
    else this.#checkRows(this.#names[state.part] as keyof Tables);
    if (this.state.passEndedAt !== undefined || this.#parts.now() - this.#savedAt > saveEveryMs) this.#save();
  }

  /** Runs a whole pass. */
  run(): void {
    this.#begin();
    while (this.state.passEndedAt === undefined) this.step();
  }

  #save(): void {
    this.#savedAt = this.#parts.now();
    const { tables, isWriter } = this.#parts;
    if (isWriter) tables.scrubState.putSync('siem', this.state);
  }

  damage(): Omit<StoreDamage, 'skipped' | 'stopped'> {
    const { blocks } = this.#parts;
    const { rows, passBeganAt, checked, total, lastPass } = this.state;
    return {
      events: eventTables.flatMap((table) => blocks.damage(table)),
      rows,
      scrub: {
        pass_began_at: passBeganAt,
        checked,
        total,
        ...(lastPass === undefined ? {} : { last_pass_at: lastPass.endedAt, last_pass_damaged: lastPass.damaged }),
      },
    };
  }

  /** Records a damaged row. The writer logs a warning when the row is found for the first time. */
  foundRow(row: string): void {
    const { rows } = this.state;
    if (rows.includes(row) || rows.length >= limits.maxNamedDamage) return;
    this.state = { ...this.state, rows: [...rows, row] };
    if (this.#parts.isWriter) process.emitWarning(`row ${row} of siem.mdb is damaged and left out`);
  }

  /** Records damage in a table, unless a damaged row of this table is already listed. */
  foundIn(table: string): void {
    if (!this.state.rows.some((row) => row.startsWith(`${table} `))) this.foundRow(`of table ${table}`);
  }

  /** Records the damage that an error reports, if the error names a table. */
  foundBy({ details }: ServiceError): void {
    if (typeof details?.table === 'string') this.foundIn(details.table);
  }

  #begin(): void {
    const { tables, blocks, now } = this.#parts;
    const { lastPass, rows } = this.state;
    const stored = Object.values(tables).reduce((sum, table) => sum + (table ? entryCount(table) : 0), 0);
    const inBlocks = eventTables.reduce((sum, table) => sum + blocks.state(table).blocks, 0);
    const steps = inBlocks + this.#names.length + Math.ceil(stored / rowsPerStep);
    const begun = { ...nothing, passBeganAt: now(), total: inBlocks + stored, steps, rows };
    this.state = lastPass === undefined ? begun : { ...begun, lastPass };
  }

  #end(): void {
    const { damaged, rows } = this.state;
    const endedAt = this.#parts.now();
    const lastPass = { endedAt, damaged };
    this.state = { ...this.state, passEndedAt: endedAt, lastPass, rows: damaged === 0 ? [] : rows };
  }

  #checkBlock(table: Table): void {
    const { blocks, onSetAside } = this.#parts;
    const from = (this.state.next as number | undefined) ?? 1;
    try {
      for (const { firstSeq, header } of blocks.headers(table, blocks.startOf(table, from))) {
        const lost = blocks.mendIds(blocks.verify(table, firstSeq));
        for (const id of lost) this.foundRow(`event-ids ${table} ${id}`);
        this.state = { ...this.state, damaged: this.state.damaged + lost.length };
        this.#checked(1, firstSeq + header.rows);
        return;
      }
      this.#checked(0, undefined);
    } catch (error) {
      if (!(error instanceof DamagedBlockError)) throw error;
      blocks.setAside(table, error.firstSeq, error.what);
      onSetAside();
      this.state = { ...this.state, damaged: this.state.damaged + 1 };
    }
  }

  #checkRows(name: keyof Tables): void {
    const table = this.#parts.tables[name] as AlertTables['alerts'];
    const { rows, damaged, next } = table.check(this.state.next as string | undefined, rowsPerStep);
    for (const row of damaged) this.foundRow(row);
    this.#checked(rows, next);
    this.state = { ...this.state, damaged: this.state.damaged + damaged.length };
  }

  /** Records the progress of a step. `next` is undefined at the end of a part. */
  #checked(count: number, next: unknown): void {
    const { checked, part } = this.state;
    this.state = {
      ...this.state,
      checked: checked + count,
      part: next === undefined ? part + 1 : part,
      next,
    };
  }
}
