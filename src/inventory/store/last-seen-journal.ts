import { limits } from '../../limits.ts';
import type { InventoryTables } from './tables.ts';

/** An address, its asset, and the time when the address was last seen (epoch milliseconds). */
export type SeenAgain = readonly [ip: string, assetId: string, last: number];

/** Rows that the journal may have in addition to twice the pending entries. */
const spareRows = 10_000;

/**
 * Journal of hosts that are unchanged except for the time when they were last seen. Nearly all of the 16,000 hosts in a
 * batch are unchanged in this way. Each row is on a different page, so writing the two rows of each host takes 0.5 s.
 * Writing the journal, with consecutive entries of 60 bytes, takes 10 ms. Entries wait in memory, oldest first,
 * until they are written to the rows.
 *
 * An entry applies to an address while the address belongs to the asset, and only if the entry's time is the latest.
 * Applying an entry twice, or after the row was written, has no effect. There are at most as many entries as
 * addresses (limits.maxAssetAddresses, 150 bytes each).
 */
export class LastSeenJournal {
  readonly #waiting = new Map<string, SeenAgain>();
  /** Entries that are not in the journal yet. */
  #unwritten = new Map<string, SeenAgain>();
  #journalRows = 0;
  #next = 0;
  readonly #table: InventoryTables['assetsSeen'];

  constructor(tables: InventoryTables) {
    this.#table = tables.assetsSeen;
    this.#recall();
  }

  /** The number of pending hosts. */
  get count(): number {
    return this.#waiting.size;
  }

  note(ip: string, assetId: string, last: number): void {
    const seen: SeenAgain = [ip, assetId, last];
    this.#waiting.set(ip, seen);
    this.#unwritten.set(ip, seen);
  }

  /**
   * Returns the time when the address was last seen with this asset, if that time is later than the time in the row;
   * otherwise 0.
   */
  lastOf(ip: string, assetId: string): number {
    const seen = this.#waiting.get(ip);
    return seen?.[1] === assetId ? seen[2] : 0;
  }

  /**
   * Removes and yields the entries that have waited longest. Callers must write the entries to the rows of their
   * addresses and assets before `write`.
   */
  *take(count: number): Generator<SeenAgain> {
    let left = count;
    for (const [ip, seen] of this.#waiting) {
      if (left-- <= 0) return;
      this.#waiting.delete(ip);
      this.#unwritten.delete(ip);
      yield seen;
    }
  }

  /** Writes the journal. Runs within a transaction. */
  write(): void {
    if (this.#waiting.size === 0) {
      if (this.#journalRows > 0) this.#begin();
      return;
    }
    if (this.#unwritten.size === 0) return;
    if (this.#journalRows + this.#unwritten.size <= 2 * this.#waiting.size + spareRows)
      this.#append([...this.#unwritten.values()]);
    else {
      this.#begin();
      this.#append([...this.#waiting.values()]);
    }
    this.#unwritten = new Map();
  }

  forget(): void {
    this.#waiting.clear();
    this.#unwritten.clear();
    this.#recall();
  }

  #begin(): void {
    this.#table.clearSync();
    this.#journalRows = 0;
  }

  #append(rows: readonly SeenAgain[]): void {
    for (let from = 0; from < rows.length; from += limits.maxBlockRows)
      this.#table.putSync(this.#next++, rows.slice(from, from + limits.maxBlockRows));
    this.#journalRows += rows.length;
  }

  #recall(): void {
    this.#journalRows = 0;
    this.#next = 0;
    for (const { key, value } of this.#table.getRange()) {
      for (const seen of value) this.#waiting.set(seen[0], seen);
      this.#journalRows += value.length;
      this.#next = key + 1;
    }
  }
}
