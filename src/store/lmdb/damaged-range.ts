import type { Table } from '../../events/records.ts';
import { DamagedDataError } from './seal.ts';

/** A range of damaged events, as stored in `event-damage`. */
export interface RangeRow {
  readonly rows: number;
  /** Epoch milliseconds. */
  readonly found_at: number;
  /** A description of the damage. */
  readonly what: string;
  /**
   * Times of the first and the last event, epoch milliseconds; absent if the header of the block is damaged.
   */
  readonly from?: number;
  readonly to?: number;
}

/** A range of events that results leave out. */
export interface DamagedRange extends RangeRow {
  readonly table: Table;
  readonly firstSeq: number;
}

/**
 * A block of events is damaged and was not set aside yet. Crosses threads as a ServiceError with the same
 * details.
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

/** Whether a damaged range may contain events between two times (epoch milliseconds). */
export function mayLieIn({ from, to }: RangeRow, since = -Infinity, until = Infinity): boolean {
  return from === undefined || to === undefined || (to >= since && from < until);
}
