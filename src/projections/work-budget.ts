import type { EventBlock } from '../events/format/block.ts';
import { limits } from '../limits.ts';

/** Minimum number of rows for a separate pass. */
const fewestProcessed = 256;
/** Minimum number of rows of a write from which a later write is estimated. */
const fewestWritten = 1024;
/**
 * Minimum of `writableRows`: the rows of a small write, plus the rows of unchanged hosts that a write leaves in
 * memory.
 */
const fewestWritable = limits.inventoryRowsPerCommit + 2 * limits.settledHostsPerWrite + 1;
/**
 * Estimates before the first measurement, and lower bounds of later estimates, because the next rows may cost
 * more than the last rows.
 */
const usuallyMs = { perValue: 0.025, perWrittenRow: 0.005 } as const;

/**
 * Estimates how much of the inventory's work fits into the time slice of a transaction, by recent measurements.
 * A row of known hosts takes 1 µs, and a row of a new host fifty times as long.
 */
export class WorkBudget {
  #perValue: number = usuallyMs.perValue;
  #perWrittenRow: number = usuallyMs.perWrittenRow;

  /**
   * Returns how many rows of a block, from `first` on and at most up to `end`, can be processed in a time.
   */
  rows(block: EventBlock, first: number, end: number, ms: number): number {
    const perRow = valuesPerRow(block) * Math.max(this.#perValue, usuallyMs.perValue);
    return Math.min(end - first, Math.max(fewestProcessed, Math.floor(ms / perRow)));
  }

  processed(block: EventBlock, rows: number, tookMs: number): void {
    if (rows < fewestProcessed) return;
    const perValue = tookMs / (rows * valuesPerRow(block));
    // The estimate rises immediately and falls gradually.
    this.#perValue = Math.max(perValue, (this.#perValue + perValue) / 2);
  }

  /** Number of rows that can be written in the time slice of a transaction. */
  get writableRows(): number {
    const rows = Math.floor(limits.inventoryWriteMs / this.#perWrittenRow);
    return Math.max(fewestWritable, Math.min(rows, limits.maxUnwrittenInventoryRows));
  }

  wrote(rows: number, tookMs: number): void {
    if (rows < fewestWritten) return;
    this.#perWrittenRow = Math.max(usuallyMs.perWrittenRow / 10, (this.#perWrittenRow + tookMs / rows) / 2);
  }
}

/**
 * Returns the average number of distinct values per row of a block. Distinct values dominate the cost. A row
 * that only repeats values counts as 1/32 of a distinct value.
 */
function valuesPerRow(block: EventBlock): number {
  const values =
    block.table === 'network'
      ? block.addresses('src_ip').list.length + block.addresses('dst_ip').list.length
      : block.texts('answers').list.length;
  return values / block.rows + 1 / 32;
}
