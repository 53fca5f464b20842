import { setImmediate as turn } from 'node:timers/promises';
import { sha256 } from '../../sha256.ts';
import { GrowingTree } from '../../tlog/growing-tree.ts';
import { timestampStepNs } from '../../tlog/head.ts';
import { pageColumns, pageHashes, pageWidth } from '../../tlog/page.ts';
import { equalHashes, type Hash, hashBytes, leafHash } from '../../tlog/tree.ts';
import { bytesToUuid } from '../../uuid.ts';
import { headRowBytes, readHeadRow, readHeadValue } from '../storage/head-row.ts';
import type { SignedHead } from '../storage/storage.ts';
import { EntryReader } from './canonical-entry.ts';
import type { DatabaseFile, Table } from './database-file.ts';
import type { PublicKeys } from './public-keys.ts';
import { findRow, RowCursor } from './row-cursor.ts';
import { keyNumber, keyNumbers, numberKey, numbersKey } from './row-keys.ts';

/** What can be saved of a log. */
export interface Salvaged {
  /** The largest signed head whose leaves are all there and give its root; undefined where there is none. */
  readonly head: SignedHead | undefined;
  /** Every signed head up to it whose root the leaves give, by size and time. */
  readonly heads: readonly SignedHead[];
  /** Signed heads that can't be kept: larger ones, and those with other roots. */
  readonly dropped: readonly SignedHead[];
  /** Leaves of the largest signed head known, or more where there are more entries. */
  readonly known: number;
  /** The first entry from which on nothing can be saved, and why. */
  readonly stoppedAt: { readonly index: number; readonly why: string } | undefined;
}

/** Entries that are looked for to tell their ids, readable or not. */
const maxAsked = 100_000;

/** A signature alone has 128 digits. */
const leastEntryBytes = 128;
const noDamage = () => {};
const stepLeaves = 16_384;

/**
 * Reads what can still be read of a damaged file, entry by entry: from its table, and where that can't be followed, from
 * leaf pages anywhere in the file. What an entry must be is told by the signed heads, so that nothing that is found this
 * way can be wrong: the longest beginning of the log whose root somebody signed is what can be saved.
 */
export class Salvage {
  readonly #file: DatabaseFile;
  readonly #keys: PublicKeys;
  readonly #tables: ReadonlyMap<string, Table>;
  /** Signed heads known from elsewhere: anchor, journal, an auditor's pin. */
  readonly #elsewhere: readonly SignedHead[];
  #stray: StrayEntries | undefined;
  /** The first entry that differs from its node, where no other copy fits. */
  #altered: number | undefined;

  constructor(file: DatabaseFile, keys: PublicKeys, elsewhere: readonly SignedHead[]) {
    this.#file = file;
    this.#keys = keys;
    this.#tables = file.tables(noDamage);
    this.#elsewhere = elsewhere;
  }

  /** The longest beginning that a signed head vouches for. */
  async run(onProgress: (progress: { leaves: number; total: number }) => void): Promise<Salvaged> {
    const heads = this.#heads();
    const largest = heads.reduce((most, { size }) => Math.max(most, size), 0);
    const tree = GrowingTree.load(sha256, 0, () => undefined)!;
    const kept: SignedHead[] = [];
    const dropped: SignedHead[] = [];
    let next = 0;
    const compare = (root: () => Hash): void => {
      for (; next < heads.length && heads[next]!.size <= tree.size; next++) {
        const head = heads[next]!;
        (equalHashes(head.root, root()) ? kept : dropped).push(head);
      }
    };
    compare(() => tree.root());
    let stoppedAt: Salvaged['stoppedAt'];
    for (const hash of this.hashes(largest)) {
      if (hash === undefined) {
        stoppedAt = { index: tree.size, why: 'is missing or cannot be read' };
        break;
      }
      tree.append(hash);
      compare(() => tree.root());
      if (tree.size % stepLeaves !== 0) continue;
      onProgress({ leaves: tree.size, total: largest });
      await turn();
    }
    dropped.push(...heads.slice(next));
    if (dropped.length > 0 && this.#altered !== undefined)
      stoppedAt ??= { index: this.#altered, why: 'does not hash to its leaf' };
    return {
      head: kept.at(-1),
      heads: kept,
      dropped,
      known: Math.max(largest, this.#lastIndex() + 1),
      stoppedAt,
    };
  }

  /** The entries [0, size), which must be readable. */
  *entries(size: number): Generator<Buffer> {
    for (const entry of this.#read(size)) yield entry?.bytes ?? Buffer.alloc(0);
  }

  /** Leaf hashes of the entries [0, size); undefined for one that can't be read. */
  *hashes(size: number): Generator<Hash | undefined> {
    for (const entry of this.#read(size)) yield entry?.hash;
  }

  /** Ids of these entries as far as anything tells: the entries themselves, or the index by id. At most `limit`. */
  idsOf(from: number, to: number, limit: number): Map<number, string> {
    const found = new Map<number, string>();
    const reader = new EntryReader();
    const end = Math.min(to, from + maxAsked);
    for (let index = from; index < end && found.size < limit; index++) {
      const bytes = this.#stored(index) ?? this.#strays(to).candidates(index)[0];
      if (bytes !== undefined && reader.read(bytes)) found.set(index, reader.id);
    }
    const table = this.#tables.get('ids');
    if (table === undefined || found.size >= Math.min(limit, to - from)) return found;
    for (const rows = new RowCursor(this.#file, table, noDamage); rows.next(); ) {
      const [key, value] = [rows.key(), rows.value()];
      if (key.length !== 16 || value.length !== 8) continue;
      const index = Number(value.readBigUInt64BE());
      if (index >= from && index < to && found.size < limit && !found.has(index))
        found.set(index, bytesToUuid(key));
    }
    return new Map([...found].sort(([a], [b]) => a - b));
  }

  /** The checkpoint that was kept last, as text. */
  get checkpoint(): string | undefined {
    const table = this.#tables.get('meta');
    return table && findRow(this.#file, table, Buffer.from('checkpoint'))?.toString();
  }

  *#read(size: number): Generator<{ readonly bytes: Buffer; readonly hash: Hash } | undefined> {
    const table = this.#tables.get('entries');
    const rows = table && new RowCursor(this.#file, table, noDamage);
    let at = rows?.next() === true ? keyNumber(rows.key()) : undefined;
    for (let index = 0; index < size; index++) {
      while (rows !== undefined && at !== undefined && at < index)
        at = rows.next() ? keyNumber(rows.key()) : undefined;
      yield this.#choose(index, size, at === index ? rows!.value() : undefined);
    }
  }

  /** The entry as stored, unless its node says that it was altered and another copy in the file fits the node. */
  #choose(
    index: number,
    size: number,
    stored: Buffer | undefined,
  ): { bytes: Buffer; hash: Hash } | undefined {
    const wanted = this.#nodes.leaf(index, size);
    const own = stored && { bytes: stored, hash: leafHash(sha256, stored) };
    if (own !== undefined && (wanted === undefined || equalHashes(own.hash, wanted))) return own;
    const copies = this.#strays(size)
      .candidates(index)
      .map((bytes) => ({ bytes, hash: leafHash(sha256, bytes) }));
    const fitting = copies.find(({ hash }) => wanted !== undefined && equalHashes(hash, wanted));
    if (fitting === undefined && own !== undefined) this.#altered ??= index;
    return fitting ?? own ?? copies.find(({ bytes }) => new EntryReader().read(bytes));
  }

  /** Signed heads from everywhere, once each, by size and time. */
  #heads(): SignedHead[] {
    const found = new Map<string, SignedHead>();
    const add = (head: SignedHead | undefined): void => {
      if (head === undefined) return;
      const name = `${head.size} ${head.timestampNs} ${head.keyId}`;
      if (!found.has(name) && this.#keys.isSigned(head)) found.set(name, head);
    };
    const table = this.#tables.get('heads');
    if (table !== undefined) {
      for (const rows = new RowCursor(this.#file, table, noDamage); rows.next(); )
        add(readHeadRow(rows.key(), rows.value()));
    }
    for (const { page, node, key, bytes } of this.#file.strayRows()) {
      if (bytes === headRowBytes && keyNumbers(key) !== undefined)
        add(readHeadValue(this.#file.strayValue(page, node) ?? key));
    }
    for (const head of this.#elsewhere) add(head);
    return [...found.values()].sort(
      (a, b) => a.size - b.size || Number((a.timestampNs - b.timestampNs) / timestampStepNs),
    );
  }

  #stored(index: number): Buffer | undefined {
    const table = this.#tables.get('entries');
    return table && findRow(this.#file, table, numberKey(index));
  }

  #lastIndex(): number {
    const table = this.#tables.get('entries');
    let last = -1;
    if (table === undefined) return last;
    for (const rows = new RowCursor(this.#file, table, noDamage); rows.next(); ) last = keyNumber(rows.key());
    return last;
  }

  #strays(size: number): StrayEntries {
    this.#stray ??= new StrayEntries(this.#file, size);
    return this.#stray;
  }

  readonly #nodes = {
    page: -1,
    bytes: undefined as Buffer | undefined,
    /** The leaf hash that the nodes have; undefined where the page can't be read. */
    leaf: (index: number, size: number): Hash | undefined => {
      const number = Math.floor(index / pageColumns);
      if (this.#nodes.page !== number) {
        const table = this.#tables.get('pages');
        this.#nodes.page = number;
        this.#nodes.bytes = table && findRow(this.#file, table, numbersKey([0, number]));
      }
      const { bytes } = this.#nodes;
      const width = pageWidth({ level: 0, index: number }, size);
      const column = index % pageColumns;
      const isPage = bytes !== undefined && bytes.length >= pageHashes(width) * hashBytes;
      return isPage ? bytes.subarray(column * hashBytes, (column + 1) * hashBytes) : undefined;
    },
  };
}

/** Where copies of each entry lie in the file: the first and the last that a scan of all pages met. 12 bytes a leaf. */
class StrayEntries {
  readonly #file: DatabaseFile;
  readonly #pages: readonly Uint32Array[];
  readonly #nodes: readonly Uint16Array[];

  constructor(file: DatabaseFile, size: number) {
    this.#file = file;
    this.#pages = [new Uint32Array(size), new Uint32Array(size)];
    this.#nodes = [new Uint16Array(size), new Uint16Array(size)];
    for (const { page, node, key, bytes } of file.strayRows()) {
      // Keys of one number are those of `history` too, whose values are 16 bytes.
      const index = bytes > leastEntryBytes ? keyNumber(key) : -1;
      if (index < 0 || index >= size) continue;
      const copy = this.#pages[0]![index] === 0 ? 0 : 1;
      this.#keep(copy, index, page, node);
    }
  }

  candidates(index: number): Buffer[] {
    return this.#pages.flatMap((pages, copy) => {
      const page = pages[index] ?? 0;
      const value = page === 0 ? undefined : this.#file.strayValue(page, this.#nodes[copy]![index]!);
      return value !== undefined && value[0] === 0x7b ? [value] : [];
    });
  }

  #keep(copy: number, index: number, page: number, node: number): void {
    this.#pages[copy]![index] = page;
    this.#nodes[copy]![index] = node;
  }
}
