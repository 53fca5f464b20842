import { sha256 } from '../../crypto/sha256.ts';
import { isPageConsistent } from '../../tlog/growing-tree.ts';
import { pageColumns, pageHashes } from '../../tlog/page.ts';
import { type Hash, hashBytes } from '../../tlog/tree.ts';
import type { Key, KeyRing } from '../keys/key-ring.ts';
import { EntryReader } from './canonical-entry.ts';
import type { CheckInput } from './check-input.ts';
import type { Table } from './database-file.ts';
import type { SegmentIndexes } from './indexes.ts';
import { findRow, RowCursor } from './row-cursor.ts';
import { numberKey, numbersKey } from './row-keys.ts';
import { leafHashInto, SegmentTree } from './segment-tree.ts';

const unknown = new Uint8Array(hashBytes);

export interface EntriesInput extends CheckInput {
  readonly keys: KeyRing;
  readonly indexes: SegmentIndexes;
  /** Index of the first leaf, a multiple of 65,536. */
  readonly first: number;
  /** Number of leaves, at most 65,536. */
  readonly leaves: number;
  readonly signatures: boolean;
  /** Called when the tree has `size` of these leaves. Not called after an unknown leaf. */
  onSize(size: number, root: () => Hash): void;
}

/**
 * Recomputes the tree over the leaves of a segment from the entries and compares it with the stored nodes, a
 * page of 256 leaves at a time.
 *
 * If an entry and its stored leaf hash differ, the page itself shows which of them is damaged: if the hashes within the
 * page are consistent, the page is intact and the entry changed. The tree then continues with the hash of the intact
 * part, and the signed heads confirm or refute this choice.
 */
export class EntriesCheck {
  readonly #input: EntriesInput;
  readonly #tree = new SegmentTree();
  readonly #root = () => this.#tree.root();
  readonly #rows: RowCursor | undefined;
  readonly #reader = new EntryReader();
  readonly #pages: Table | undefined;
  /** Index of the row at the cursor, until the row is consumed. */
  #ahead: number | undefined;
  #more: boolean;
  /** Whether a leaf is missing without a substitute, so that later roots cannot be computed. */
  #broken = false;
  #key: Key | undefined;

  constructor(input: EntriesInput) {
    this.#input = input;
    const { file, tables, first, leaves, onDamage } = input;
    const table = tables.get('entries');
    const [from, before] = [first === 0 ? undefined : numberKey(first), numberKey(first + leaves)];
    this.#rows = table && new RowCursor(file, table, onDamage, from, before);
    this.#more = this.#rows !== undefined;
    this.#pages = tables.get('pages');
  }

  /** Number of finished leaves. */
  get leaves(): number {
    return this.#tree.size;
  }

  get done(): boolean {
    return this.#tree.size === this.#input.leaves;
  }

  /** The root of the leaves so far; undefined if a leaf is unknown. */
  get root(): Hash | undefined {
    return this.#broken ? undefined : this.#tree.root();
  }

  /** Checks the next page of leaves. */
  step(): void {
    const { first, leaves, indexes, onSize } = this.#input;
    const done = this.#tree.size;
    const width = Math.min(pageColumns, leaves - done);
    const page = done / pageColumns;
    const stored = this.#stored(0, page);
    const missing = this.#readEntries(first + done, width);
    this.#settle(first + done, width, missing, stored);
    for (let column = 0; column < width; column++) {
      this.#tree.append();
      if (missing.has(column)) this.#broken = true;
      if (this.#broken) continue;
      indexes.addLeaf(this.#tree.leaves.readUInt32BE(column * hashBytes));
      onSize(this.#tree.size, this.#root);
    }
    this.#checkPage(0, page, stored);
  }

  /** Checks the page of nodes above the pages of leaves. */
  end(): void {
    if (this.#tree.size >= pageColumns && !this.#broken) this.#checkPage(1, 0, this.#stored(1, 0));
  }

  /** Hashes the entries from `from` onwards. Returns the columns of missing entries. */
  #readEntries(from: number, width: number): Set<number> {
    const missing = new Set<number>();
    for (let column = 0; column < width; column++) {
      if (this.#next() !== from + column) {
        missing.add(column);
        this.#tree.leaves.set(unknown, column * hashBytes);
        this.#input.indexes.skip();
        continue;
      }
      const bytes = this.#rows!.valueBehindByte();
      leafHashInto(bytes, this.#tree.leaves, column * hashBytes);
      this.#checkEntry(from + column, bytes);
      this.#ahead = undefined;
    }
    return missing;
  }

  /**
   * Returns the index of the row at the cursor; undefined after the last row. The row is not consumed until `#ahead` is
   * cleared.
   */
  #next(): number | undefined {
    while (this.#ahead === undefined && this.#more) {
      this.#more = this.#rows!.next();
      if (!this.#more) break;
      const index = this.#rows!.keyNumber();
      if (index >= 0) this.#ahead = index;
      else this.#input.findings.add('row_unknown', 'the key of a row in the table entries is not an index');
    }
    return this.#ahead;
  }

  /**
   * Checks the form, the key and, if requested, the signature of an entry, and adds the entry to the indexes.
   *
   * @param bytes - the entry, preceded by one byte that is not part of it
   */
  #checkEntry(index: number, bytes: Buffer): void {
    const { findings, indexes, signatures } = this.#input;
    const reader = this.#reader;
    if (!reader.read(bytes, 1)) {
      findings.add('entry_malformed', `entry ${index} is not the canonical form of an entry`, index);
      indexes.skip();
      return;
    }
    indexes.add(index, reader);
    const key = this.#keyOf(reader.keyId);
    if (key === undefined) {
      const message = `entry ${index} is signed by key ${reader.keyId}, which is not in the folder keys`;
      findings.add('entry_key', message, index);
    } else if (index < key.fromSize || index >= key.toSize) {
      findings.add('entry_key', `entry ${index} is signed by key ${key.kid}, which does not cover it`, index);
    }
    if (signatures && key !== undefined && !key.verify(reader.signedBytes, reader.signature)) {
      findings.add('entry_signature', `the signature of entry ${index} is not valid`, index);
    }
  }

  #keyOf(kid: string): Key | undefined {
    if (this.#key?.kid !== kid) this.#key = this.#input.keys.get(kid, 'event-signing');
    return this.#key;
  }

  /**
   * Chooses the leaf hashes where entries and the stored page differ. Columns whose hash is known are removed
   * from `missing`.
   */
  #settle(from: number, width: number, missing: Set<number>, stored: Buffer | undefined): void {
    const { findings } = this.#input;
    const { leaves } = this.#tree;
    const end = width * hashBytes;
    const isPage = stored !== undefined && stored.length === pageHashes(width) * hashBytes;
    if (isPage && missing.size === 0 && leaves.compare(stored, 0, end, 0, end) === 0) return;
    const trusted = isPage && isPageConsistent(sha256, stored, width);
    for (let column = 0; column < width; column++) {
      const index = from + column;
      const at = column * hashBytes;
      if (missing.has(column)) findings.add('entry_missing', `entry ${index} is missing`, index);
      else if (!trusted || leaves.compare(stored, at, at + hashBytes, at, at + hashBytes) === 0) continue;
      else findings.add('entry_altered', `entry ${index} does not match its leaf hash`, index);
      if (!trusted) continue;
      stored.copy(leaves, at, at, at + hashBytes);
      missing.delete(column);
    }
  }

  #checkPage(level: number, index: number, stored: Buffer | undefined): void {
    const { findings } = this.#input;
    const bytes = this.#tree.page(level);
    const name = `page ${level}/${this.#globalIndex(level, index)} of the nodes`;
    if (stored === undefined) findings.add('node_missing', `${name} is missing`, index);
    else if (Buffer.compare(stored, bytes) !== 0 && !(this.#broken && this.#hasUnknown(bytes)))
      findings.add('node_altered', `${name} does not match the entries`, index);
  }

  #hasUnknown(page: Uint8Array): boolean {
    for (let i = 0; i < page.length / hashBytes; i++) if (isAt(page, i, unknown)) return true;
    return false;
  }

  #stored(level: number, index: number): Buffer | undefined {
    const key = numbersKey([level, this.#globalIndex(level, index)]);
    return this.#pages && findRow(this.#input.file, this.#pages, key);
  }

  #globalIndex(level: number, index: number): number {
    return this.#input.first / pageColumns ** (level + 1) + index;
  }
}

/** Returns whether the nth hash of a page equals `hash`. */
function isAt(page: Uint8Array, n: number, hash: Hash): boolean {
  const start = n * hashBytes;
  for (let i = 0; i < hashBytes; i++) if (page[start + i] !== hash[i]) return false;
  return true;
}
