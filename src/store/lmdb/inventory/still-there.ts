import { limits } from '../../../limits.ts';
import type { Tables } from '../tables.ts';

/** An address, the asset that has it, and when it was seen last, in epoch milliseconds. */
export type SeenAgain = readonly [ip: string, assetId: string, last: number];

/** The journal may have so many rows beyond twice those that it is needed for. */
const spareRows = 10_000;

/**
 * Hosts of which nothing is new but that they are still there: of 16,000 hosts of a batch, nearly all. Their rows lie on as
 * many pages as there are hosts, so that writing both rows of each takes 0.5 s; here they are 60 bytes one after the other,
 * 10 ms. They wait in memory, oldest first, until somebody settles them in their rows; until then a journal has them.
 *
 * A time counts for the address while it is this asset's, and then only where it is the latest: read twice, or after the
 * row was written, it changes nothing. There are no more than addresses (limits.maxAssetAddresses, 150 bytes each).
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

  /** Hosts that wait. */
  get count(): number {
    return this.#waiting.size;
  }

  note(ip: string, assetId: string, last: number): void {
    const seen: SeenAgain = [ip, assetId, last];
    this.#waiting.set(ip, seen);
    this.#unwritten.set(ip, seen);
  }

  /** When the address was seen as this asset's, beyond what its row says; 0 for nothing. */
  lastOf(ip: string, assetId: string): number {
    const seen = this.#waiting.get(ip);
    return seen?.[1] === assetId ? seen[2] : 0;
  }

  /** Those that have waited longest. They are to be written to their rows before `write`. */
  *take(count: number): Generator<SeenAgain> {
    let left = count;
    for (const [ip, seen] of this.#waiting) {
      if (left-- <= 0) return;
      this.#waiting.delete(ip);
      this.#unwritten.delete(ip);
      yield seen;
    }
  }

  /** Within a transaction. */
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
