import { limits } from '../../../limits.ts';
import type { Tables } from '../tables.ts';

/** An address, its asset, and when it was last seen (epoch milliseconds). */
export type SeenAgain = readonly [ip: string, assetId: string, last: number];

/** The journal may have this many rows beyond twice the pending ones. */
const spareRows = 10_000;

/**
 * Journal of hosts that are unchanged except for the time they were last seen: nearly all of the 16,000 hosts
 * of a batch. Their rows are on as many pages as there are hosts, so that writing both rows of each takes 0.5
 * s; here they are 60 bytes each, one after the other: 10 ms. Entries wait in memory, oldest first, until
 * they are written to their rows; until then the journal has them.
 *
 * A time applies to the address while it belongs to this asset, and only if it is the latest: applying it
 * twice, or after the row was written, changes nothing. There are at most as many entries as addresses
 * (limits.maxAssetAddresses, 150 bytes each).
 */
export class StillThere {
  readonly #waiting = new Map<string, SeenAgain>();
  /** Not in the journal yet. */
  #unwritten = new Map<string, SeenAgain>();
  #journalRows = 0;
  #next = 0;
  readonly #table: Tables['assetsSeen'];

  constructor(tables: Tables) {
    this.#table = tables.assetsSeen;
    this.#recall();
  }

  /** Pending hosts. */
  get count(): number {
    return this.#waiting.size;
  }

  note(ip: string, assetId: string, last: number): void {
    const seen: SeenAgain = [ip, assetId, last];
    this.#waiting.set(ip, seen);
    this.#unwritten.set(ip, seen);
  }

  /** When the address was last seen as this asset's, if later than its row says; otherwise 0. */
  lastOf(ip: string, assetId: string): number {
    const seen = this.#waiting.get(ip);
    return seen?.[1] === assetId ? seen[2] : 0;
  }

  /** Yields the entries that have waited longest. The caller must write them to their rows before `write`. */
  *take(count: number): Generator<SeenAgain> {
    let left = count;
    for (const [ip, seen] of this.#waiting) {
      if (left-- <= 0) return;
      this.#waiting.delete(ip);
      this.#unwritten.delete(ip);
      yield seen;
    }
  }

  /** Runs within a transaction. */
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
