import { tables as eventTables } from '../../events/columns.ts';
import type { Table } from '../../events/records.ts';
import { limits } from '../../limits.ts';
import type { StoreDamage } from '../damage.ts';
import type { BlockStore } from './block-store.ts';
import { DamagedBlockError } from './damaged-range.ts';
import { entryCount, type Tables } from './tables.ts';

/** Progress of the scrub, stored across restarts. Times are epoch milliseconds. */
export interface ScrubState {
  readonly passBeganAt: number;
  /** Undefined while the pass is running. */
  readonly passEndedAt?: number | undefined;
  /** Blocks and rows to check in this pass, counted at its start, and those checked so far. */
  readonly total: number;
  readonly checked: number;
  /** Approximate number of steps of the pass. */
  readonly steps: number;
  /** The current part, and the key in it to continue at. */
  readonly part: number;
  readonly next?: unknown;
  readonly damaged: number;
  readonly lastPass?: { readonly endedAt: number; readonly damaged: number };
  /** Damaged rows found by this pass or the previous one, at most `limits.maxNamedDamage`. */
  readonly rows: readonly string[];
}

export interface ScrubParts {
  readonly blocks: BlockStore;
  readonly tables: Tables;
  /** False for a file opened for reading. */
  readonly isWriter: boolean;
  now(): number;
  onSetAside(): void;
}

const nothing = { total: 0, checked: 0, steps: 0, part: 0, damaged: 0 };

/** Rows of a table checked in one step, some ms. */
const rowsPerStep = 2048;
const hourMs = 3_600_000;
/**
 * One pass takes at most half a day, and a new one begins an hour after the last one began, as in the log.
 */
const passMs = 12 * hourMs;
const pauseMs = 1000;
const saveEveryMs = 60_000;

/**
 * Reads all blocks and rows of siem.mdb in the background, from disk. Damaged blocks are set aside, damaged
 * rows are counted, and data of earlier versions gets its checksums.
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

  /** Milliseconds until the next step. */
  get pauseMs(): number {
    const { passBeganAt, passEndedAt, steps } = this.state;
    if (passEndedAt !== undefined) return Math.max(pauseMs, passBeganAt + hourMs - this.#parts.now());
    return Math.min(pauseMs, passMs / (1 + steps));
  }

  /**
   * Checks the next block or rows, in a transaction. After the last one the pass ends; the next step begins
   * another.
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

  damage(): StoreDamage {
    const { blocks } = this.#parts;
    const { rows, passBeganAt, checked, total, lastPass } = this.state;
    return {
      events: eventTables.flatMap((table) => blocks.damage(table)),
      rows,
      scrub: {
        pass_began_at: passBeganAt,
        checked,
        total,
        ...(lastPass === undefined
          ? {}
          : { last_pass_at: lastPass.endedAt, last_pass_damaged: lastPass.damaged }),
      },
    };
  }

  /** Records a damaged row that was read, and logs it the first time. */
  foundRow(row: string): void {
    const { rows } = this.state;
    if (rows.includes(row) || rows.length >= limits.maxNamedDamage) return;
    this.state = { ...this.state, rows: [...rows, row] };
    if (this.#parts.isWriter) process.emitWarning(`row ${row} of siem.mdb is damaged and left out`);
  }

  /** Records damage in a table of which no damaged row is named yet. */
  foundIn(table: string): void {
    if (!this.state.rows.some((row) => row.startsWith(`${table} `))) this.foundRow(`of table ${table}`);
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
        blocks.verify(table, firstSeq);
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
    const table = this.#parts.tables[name] as Tables['alerts'];
    const { rows, damaged, next } = table.check(this.state.next as string | undefined, rowsPerStep);
    for (const row of damaged) this.foundRow(row);
    this.#checked(rows, next);
    this.state = { ...this.state, damaged: this.state.damaged + damaged.length };
  }

  /** @param next - undefined if the part is done */
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
