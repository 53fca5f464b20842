import type { EventBlock } from '../../../events/block.ts';
import { limits } from '../../../limits.ts';

/** Fewer rows are not worth a separate pass or write. */
const fewest = 1024;
/** Rows that count as little to write, plus what a write leaves of unchanged hosts. */
const fewestWritable = limits.inventoryRowsPerCommit + 2 * limits.settledHostsPerWrite + 1;
/** Estimates before any measurement, and lower bounds: the next rows may cost more than the last ones. */
const usuallyMs = { perValue: 0.025, perWrittenRow: 0.005 } as const;

/**
 * How much of the inventory's work fits into the time slice of a transaction, by recent measurements: a row
 * of known hosts takes 1 µs, one of a new host fifty times that.
 */
export class Pace {
  #perValue: number = usuallyMs.perValue;
  #perWrittenRow: number = usuallyMs.perWrittenRow;

  /** Returns how many rows of a block from `first` on can be processed in a time, at most up to `end`. */
  rows(block: EventBlock, first: number, end: number, ms: number): number {
    const perRow = valuesPerRow(block) * Math.max(this.#perValue, usuallyMs.perValue);
    return Math.min(end - first, Math.max(fewest, Math.floor(ms / perRow)));
  }

  counted(block: EventBlock, rows: number, tookMs: number): void {
    if (rows < fewest) return;
    const perValue = tookMs / (rows * valuesPerRow(block));
    // Rises at once, falls gradually.
    this.#perValue = Math.max(perValue, (this.#perValue + perValue) / 2);
  }

  /** Rows that can be written in the time slice of a transaction. */
  get writableRows(): number {
    const rows = Math.floor(limits.inventoryWriteMs / this.#perWrittenRow);
    return Math.max(fewestWritable, Math.min(rows, limits.maxUnwrittenInventoryRows));
  }

  wrote(rows: number, tookMs: number): void {
    if (rows < fewest) return;
    this.#perWrittenRow = Math.max(usuallyMs.perWrittenRow / 10, (this.#perWrittenRow + tookMs / rows) / 2);
  }
}

/**
 * Returns the average number of distinct values per row of a block: these dominate the cost; a row that
 * repeats values costs a 32nd.
 */
function valuesPerRow(block: EventBlock): number {
  const values =
    block.table === 'network'
      ? block.addresses('src_ip').list.length + block.addresses('dst_ip').list.length
      : block.texts('answers').list.length;
  return values / block.rows + 1 / 32;
}
