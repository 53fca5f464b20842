import type { EventBlock } from '../../../events/block.ts';
import { limits } from '../../../limits.ts';

/** Fewer rows are not worth a pass of their own, nor a write of their own. */
const fewest = 1024;
/** What is dirty without being much, and what a write leaves of hosts that were seen again. */
const fewestWritable = limits.inventoryRowsPerCommit + 2 * limits.settledHostsPerWrite + 1;
/** Before anything was measured, and for no less: what comes next may be other than what came before. */
const usuallyMs = { perValue: 0.025, perWrittenRow: 0.005 } as const;

/**
 * How much of the inventory's work fits in the time that one transaction has for it, by how long it took of late: a row
 * of hosts that are known takes 1 µs, one of a host that was never seen fifty times that.
 */
export class Pace {
  #perValue: number = usuallyMs.perValue;
  #perWrittenRow: number = usuallyMs.perWrittenRow;

  /** Rows of a block from `first` on that can be counted in a time, at most up to `end`. */
  rows(block: EventBlock, first: number, end: number, ms: number): number {
    const perRow = valuesPerRow(block) * Math.max(this.#perValue, usuallyMs.perValue);
    return Math.min(end - first, Math.max(fewest, Math.floor(ms / perRow)));
  }

  counted(block: EventBlock, rows: number, tookMs: number): void {
    if (rows < fewest) return;
    const perValue = tookMs / (rows * valuesPerRow(block));
    // Slower at once, quicker by and by.
    this.#perValue = Math.max(perValue, (this.#perValue + perValue) / 2);
  }

  /** Rows that can be written in the time that a transaction has for it. */
  get writableRows(): number {
    const rows = Math.floor(limits.inventoryWriteMs / this.#perWrittenRow);
    return Math.max(fewestWritable, Math.min(rows, limits.maxUnwrittenInventoryRows));
  }

  wrote(rows: number, tookMs: number): void {
    if (rows < fewest) return;
    this.#perWrittenRow = Math.max(usuallyMs.perWrittenRow / 10, (this.#perWrittenRow + tookMs / rows) / 2);
  }
}

/** Different values that a row brings, on the average of its block: they take the time, rows that repeat them a 32nd. */
function valuesPerRow(block: EventBlock): number {
  const values =
    block.table === 'network'
      ? block.addresses('src_ip').list.length + block.addresses('dst_ip').list.length
      : block.texts('answers').list.length;
  return values / block.rows + 1 / 32;
}
