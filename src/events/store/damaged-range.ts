import { DamagedDataError } from '../../database/rows.ts';
import type { Table } from '../records.ts';

/** A range of damaged events, as stored in `event-damage`. */
export interface RangeRow {
  readonly rows: number;
  /** Time of the discovery, epoch milliseconds. */
  readonly found_at: number;
  /** A description of the damage. */
  readonly what: string;
  /** Least event time, epoch milliseconds; absent if the header of the block is damaged. */
  readonly from?: number;
  /** Largest event time, epoch milliseconds. */
  readonly to?: number;
}

/** A range of events that are left out of results. */
export interface DamagedRange extends RangeRow {
  readonly table: Table;
  readonly firstSeq: number;
}

/**
 * Reports that a block of events is damaged and was not set aside yet. Crosses threads as a ServiceError with
 * these details.
 */
export class DamagedBlockError extends DamagedDataError {
  readonly table: Table;
  readonly firstSeq: number;
  readonly what: string;

  constructor(table: Table, firstSeq: number, what: string) {
    super(`block ${firstSeq} of ${table} events, ${what}`, { table, block: firstSeq, what });
    this.table = table;
    this.firstSeq = firstSeq;
    this.what = what;
  }
}

/** Returns whether a damaged range may contain events between two times (epoch milliseconds). */
export function mayLieIn({ from, to }: RangeRow, since = -Infinity, until = Infinity): boolean {
  return from === undefined || to === undefined || (to >= since && from < until);
}
