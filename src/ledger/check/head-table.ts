import { timestampStepNs } from '../../tlog/head.ts';
import { headRowBytes, readHeadRow } from '../storage/head-row.ts';
import { lowerBound } from '../storage/lower-bound.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { DatabaseFile, Table } from './database-file.ts';
import { findRow, RowCursor } from './row-cursor.ts';
import { numbersKey } from './row-keys.ts';

/** Maximum gaps recorded individually; later gaps are merged into the last gap. */
const maxGaps = 10_000;

/** The table `heads` of a file that may be damaged. Memory does not depend on the number of heads. */
export class HeadTable {
  readonly #file: DatabaseFile;
  readonly #table: Table | undefined;
  /** Ascending ranges of sizes in which the cursor may have skipped rows. Both ends are included. */
  readonly #gaps: { readonly from: number; to: number }[] = [];
  /** The last heads, signed or not, as many as fit on a page. */
  readonly #last: SignedHead[] = [];

  /** Reads the whole table. */
  constructor(file: DatabaseFile, table: Table | undefined) {
    this.#file = file;
    this.#table = table;
    this.#findGaps();
  }

  /** Yields the readable rows, by size and time. Signatures are not verified. */
  *heads(onDamage = () => {}): Generator<SignedHead> {
    if (this.#table === undefined) return;
    for (const rows = new RowCursor(this.#file, this.#table, onDamage); rows.next(); ) {
      const head = readHeadRow(rows.key(), rows.value());
      if (head !== undefined) yield head;
    }
  }

  /** Returns the size of the largest head that `isSigned` accepts; 0 if it accepts none. */
  largest(isSigned: (head: SignedHead) => boolean): number {
    const last = this.#last.findLast(isSigned);
    if (last !== undefined) return last.size;
    let largest = 0;
    for (const head of this.heads()) if (head.size > largest && isSigned(head)) largest = head.size;
    return largest;
  }

  /**
   * Returns true only if `heads` yields this head, whose row in the file is `row`. Returns false if in doubt.
   */
  has(head: SignedHead, row: Buffer): boolean {
    const at = lowerBound(this.#gaps.length, (i) => this.#gaps[i]!.to, head.size);
    const gap = this.#gaps[at];
    if (this.#table === undefined || (gap !== undefined && gap.from <= head.size)) return false;
    const key = numbersKey([head.size, Number(head.timestampNs / timestampStepNs)]);
    if (findRow(this.#file, this.#table, key)?.equals(row) !== true) return false;
    return readHeadRow(key, row) !== undefined;
  }

  /**
   * Finds ranges in doubt. A search may find rows of a page that the cursor skips because the preceding page has an
   * invalid number. The page before the damage is therefore in doubt too.
   */
  #findGaps(): void {
    const pageRows = Math.ceil(this.#file.pageBytes / headRowBytes);
    let isDamaged = false;
    const close = (to: number): void => {
      if (isDamaged) this.#addGap(this.#last.length < pageRows ? 0 : this.#last[0]!.size, to);
      isDamaged = false;
    };
    const heads = this.heads(() => {
      isDamaged = true;
    });
    for (const head of heads) {
      close(head.size);
      this.#last.push(head);
      if (this.#last.length > pageRows) this.#last.shift();
    }
    close(Number.POSITIVE_INFINITY);
  }

  #addGap(from: number, to: number): void {
    const last = this.#gaps.at(-1);
    if (last !== undefined && (from <= last.to || this.#gaps.length === maxGaps)) last.to = to;
    else this.#gaps.push({ from, to });
  }
}
