import { verifyHead } from '../heads.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { headRowBytes, readHeadValue } from '../storage/head-row.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { DatabaseFile, Table } from './database-file.ts';
import { HeadTable } from './head-table.ts';
import { keyNumbers } from './row-keys.ts';
import { maxStrayHeads, OrphanHeads } from './stray-heads.ts';

export interface KnownHeadsInput {
  readonly file: DatabaseFile;
  readonly table: Table | undefined;
  readonly keys: KeyRing;
  /** Heads from anchor, journal, or an auditor's pin. */
  readonly elsewhere: readonly SignedHead[];
  /** Maximum stray heads kept in memory. Default: `maxStrayHeads`. */
  readonly maxStrays?: number | undefined;
}

/**
 * All known heads, in order of size and time:
 *
 *     table      read again each time, in its order                 ┐
 *     strays     heads on any page that the table does not yield    ├─ merged
 *     elsewhere  anchor, journal, pins                              ┘
 *
 * Nearly all rows outside the table are old copies of rows in it; only rows without a copy in the table are kept in
 * memory (stray-heads.ts).
 */
export class KnownHeads {
  readonly #table: HeadTable;
  readonly #strays: OrphanHeads;
  readonly #elsewhere: readonly SignedHead[];
  /** Size of the largest signed head; 0 without a signed head. */
  readonly largest: number;

  constructor({ file, table, keys, elsewhere, maxStrays = maxStrayHeads }: KnownHeadsInput) {
    this.#table = new HeadTable(file, table);
    this.#strays = new OrphanHeads(keys, maxStrays);
    const isSigned = (head: SignedHead) => verifyHead(head, keys);
    this.#elsewhere = elsewhere.filter(isSigned).sort((a, b) => (isBefore(a, b) ? -1 : 1));
    this.#findStrays(file);
    this.largest = Math.max(this.#table.largest(isSigned), this.#strays.largest, this.#elsewhere.at(-1)?.size ?? 0);
  }

  /**
   * Lower bound for the count of signed stray heads that were dropped because of the memory limit; the smallest heads
   * are dropped first.
   */
  get overlooked(): number {
    return this.#strays.overlooked;
  }

  /**
   * Yields the same heads for every call. Heads of the table may be unsigned, and duplicates follow each
   * other.
   */
  all(): Generator<SignedHead> {
    return merge(merge(this.#table.heads(), this.#strays.heads()), this.#elsewhere);
  }

  #findStrays(file: DatabaseFile): void {
    for (const { page, node, key, bytes } of file.strayRows()) {
      if (bytes !== headRowBytes || keyNumbers(key) === undefined) continue;
      const row = file.strayValue(page, node);
      const head = row && readHeadValue(row);
      if (head !== undefined && !this.#table.has(head, row!)) this.#strays.add(row!);
    }
    this.#strays.end();
  }
}

/** Merges two ordered sequences; of two equal heads, the head of `a` comes first. */
function* merge(a: Iterable<SignedHead>, b: Iterable<SignedHead>): Generator<SignedHead> {
  const others = b[Symbol.iterator]();
  let other = others.next();
  for (const head of a) {
    for (; other.done !== true && isBefore(other.value, head); other = others.next()) yield other.value;
    yield head;
  }
  for (; other.done !== true; other = others.next()) yield other.value;
}

function isBefore(a: SignedHead, b: SignedHead): boolean {
  return a.size < b.size || (a.size === b.size && a.timestampNs < b.timestampNs);
}
