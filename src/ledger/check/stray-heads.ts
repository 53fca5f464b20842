import { verifyHead } from '../heads.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { headRowBytes, readHeadValue } from '../storage/head-row.ts';
import type { SignedHead } from '../storage/storage.ts';

/**
 * Maximum signed heads outside the table that are kept in memory: 200 bytes per head, temporarily twice that, 200 MB in
 * total. A torn page has 25 rows, so the limit is reached only if the whole table of heads is lost, and then the newest
 * heads matter.
 */
export const maxStrayHeads = 500_000;

/** Signed heads from anywhere in a file, without duplicates, by size and time: the largest ones, up to a limit. */
export class OrphanHeads {
  readonly #keys: KeyRing;
  readonly #limit: number;
  #rows = new Set<string>();
  /** The largest dropped row; smaller rows are skipped. */
  #floor = '';
  #overlooked = 0;

  constructor(keys: KeyRing, limit: number) {
    this.#keys = keys;
    this.#limit = limit;
  }

  /** Adds a row of the table `heads` if it is signed. Its bytes are copied. */
  add(row: Buffer): void {
    const text = sortable(row);
    if (text <= this.#floor || this.#rows.has(text)) return;
    const head = readHeadValue(row);
    if (head === undefined || !verifyHead(head, this.#keys)) return;
    this.#rows.add(text);
    if (this.#rows.size >= 2 * this.#limit) this.#dropSmallest();
  }

  /** Completes the collection. Must be called after the last `add`. */
  end(): void {
    this.#dropSmallest();
    this.#rows = new Set([...this.#rows].sort());
  }

  /** Lower bound for the count of heads dropped because of the limit. */
  get overlooked(): number {
    return this.#overlooked;
  }

  /** Size of the largest head. Valid after `end`. */
  get largest(): number {
    let last: string | undefined;
    for (const text of this.#rows) last = text;
    return last === undefined ? 0 : headIn(last).size;
  }

  /** Yields the heads by size and time. Valid after `end`. */
  *heads(): Generator<SignedHead> {
    for (const text of this.#rows) yield headIn(text);
  }

  #dropSmallest(): void {
    const count = this.#rows.size - this.#limit;
    if (count <= 0) return;
    const sorted = [...this.#rows].sort();
    this.#floor = sorted[count - 1]!;
    this.#overlooked += count;
    this.#rows = new Set(sorted.slice(count));
  }
}

const scratch = Buffer.alloc(headRowBytes);

/**
 * Encodes a row as one character per byte, with size and time first; in the row, the root is between these
 * 8-byte fields.
 */
function sortable(row: Buffer): string {
  row.copy(scratch, 0, 0, 8);
  row.copy(scratch, 8, 40, 48);
  row.copy(scratch, 16, 8, 40);
  row.copy(scratch, 48, 48, headRowBytes);
  return scratch.toString('latin1');
}

function headIn(text: string): SignedHead {
  const bytes = Buffer.from(text, 'latin1');
  const row = Buffer.concat([bytes.subarray(0, 8), bytes.subarray(16, 48), bytes.subarray(8, 16), bytes.subarray(48)]);
  return readHeadValue(row)!;
}
