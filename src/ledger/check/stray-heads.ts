import { headRowBytes, readHeadValue } from '../storage/head-row.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { PublicKeys } from './public-keys.ts';

/**
 * Signed heads outside the table that are kept in memory, 200 bytes each and for a while twice as many: 200 MB. A torn
 * page has 25 rows, so that only a file whose table of heads is lost as a whole comes here, and then the newest count.
 */
export const maxStrayHeads = 500_000;

/** Signed heads from anywhere in a file, once each: the largest so many of them, by size and time. */
export class StrayHeads {
  readonly #keys: PublicKeys;
  readonly #limit: number;
  #rows = new Set<string>();
  /** The largest that was given up: what isn't above it need not be looked at. */
  #floor = '';
  #overlooked = 0;

  constructor(keys: PublicKeys, limit: number) {
    this.#keys = keys;
    this.#limit = limit;
  }

  /** Takes a row of the table `heads`, whose bytes are copied, if it is signed. */
  add(row: Buffer): void {
    const text = sortable(row);
    if (text <= this.#floor || this.#rows.has(text)) return;
    const head = readHeadValue(row);
    if (head === undefined || !this.#keys.isSigned(head)) return;
    this.#rows.add(text);
    if (this.#rows.size >= 2 * this.#limit) this.#shed();
  }

  /** No more come. */
  end(): void {
    this.#shed();
    this.#rows = new Set([...this.#rows].sort());
  }

  /** How many at least were given up because there were too many. */
  get overlooked(): number {
    return this.#overlooked;
  }

  /** After the end. */
  get largest(): number {
    let last: string | undefined;
    for (const text of this.#rows) last = text;
    return last === undefined ? 0 : headIn(last).size;
  }

  /** By size and time, after the end. */
  *heads(): Generator<SignedHead> {
    for (const text of this.#rows) yield headIn(text);
  }

  #shed(): void {
    const count = this.#rows.size - this.#limit;
    if (count <= 0) return;
    const sorted = [...this.#rows].sort();
    this.#floor = sorted[count - 1]!;
    this.#overlooked += count;
    this.#rows = new Set(sorted.slice(count));
  }
}

const scratch = Buffer.alloc(headRowBytes);

/** One character a byte, size and time in front: 8 bytes each, of which a row has the root between. */
function sortable(row: Buffer): string {
  row.copy(scratch, 0, 0, 8);
  row.copy(scratch, 8, 40, 48);
  row.copy(scratch, 16, 8, 40);
  row.copy(scratch, 48, 48, headRowBytes);
  return scratch.toString('latin1');
}

function headIn(text: string): SignedHead {
  const bytes = Buffer.from(text, 'latin1');
  const row = Buffer.concat([
    bytes.subarray(0, 8),
    bytes.subarray(16, 48),
    bytes.subarray(8, 16),
    bytes.subarray(48),
  ]);
  return readHeadValue(row)!;
}
