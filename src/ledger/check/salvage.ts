import { setImmediate as turn } from 'node:timers/promises';
import { sha256 } from '../../crypto/sha256.ts';
import { GrowingTree } from '../../tlog/growing-tree.ts';
import { pageColumns, pageHashes, pageWidth } from '../../tlog/page.ts';
import { equalHashes, type Hash, hashBytes, leafHash } from '../../tlog/tree.ts';
import { bytesToUuid } from '../../uuid.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { SignedHead } from '../storage/storage.ts';
import { EntryReader } from './canonical-entry.ts';
import type { DatabaseFile, Table } from './database-file.ts';
import { type DroppedHeads, HeadVerdicts, type KeptHeads } from './judged-heads.ts';
import { KnownHeads } from './known-heads.ts';
import { findRow, RowCursor } from './row-cursor.ts';
import { keyNumber, numberKey, numbersKey } from './row-keys.ts';

/** Minimum size of an entry: its signature has 128 digits. */
const leastEntryBytes = 128;

/**
 * Locations of up to two copies of each entry in the file: the first and the last copy that a scan of all pages finds.
 * Takes 12 bytes per leaf.
 */
class StrayEntries {
  readonly #file: DatabaseFile;
  readonly #pages: readonly Uint32Array[];
  readonly #nodes: readonly Uint16Array[];

  constructor(file: DatabaseFile, size: number) {
    this.#file = file;
    this.#pages = [new Uint32Array(size), new Uint32Array(size)];
    this.#nodes = [new Uint16Array(size), new Uint16Array(size)];
    for (const { page, node, key, bytes } of file.strayRows()) {
      // Keys of `history` are single numbers too, but its values have 16 bytes.
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

/** The recoverable part of a log. */
export interface Salvaged {
  /** The largest signed head whose leaves are all readable and match its root; undefined if there is no such head. */
  readonly head: SignedHead | undefined;
  /** Yields every signed head up to `head` whose root matches the leaves, while another tree grows. */
  readonly kept: () => KeptHeads;
  readonly dropped: DroppedHeads;
  /** Lower bound of the number of smaller signed heads that were not examined: see `maxStrayHeads`. */
  readonly overlooked: number;
  /** Leaves of the largest known signed head, or more if there are more entries. */
  readonly known: number;
  /** The first entry that cannot be recovered, and why. */
  readonly stoppedAt: { readonly index: number; readonly why: string } | undefined;
}

/** Maximum entries, readable or not, whose ids are searched. */
const maxAsked = 100_000;

const noDamage = () => {};
const stepLeaves = 16_384;

/**
 * Reads the recoverable entries of a damaged file: from the table, and if the table is damaged, from leaf pages
 * anywhere in the file. The result is the longest prefix of the log whose root was signed. Because the signed heads
 * determine the entries, the recovered entries cannot be wrong.
 */
export class Salvage {
  readonly #file: DatabaseFile;
  readonly #keys: KeyRing;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #elsewhere: readonly SignedHead[];
  readonly #maxStrayHeads: number | undefined;
  #stray: StrayEntries | undefined;
  /** The first entry that differs from its node, if no other copy matches. */
  #altered: number | undefined;

  /**
   * @param elsewhere - signed heads from the anchor, the journal, an auditor's pin
   * @param maxStrayHeads - default: the constant of that name
   */
  constructor(file: DatabaseFile, keys: KeyRing, elsewhere: readonly SignedHead[], maxStrayHeads?: number) {
    this.#file = file;
    this.#keys = keys;
    this.#tables = file.tables(noDamage);
    this.#elsewhere = elsewhere;
    this.#maxStrayHeads = maxStrayHeads;
  }

  /** Finds the longest prefix that a signed head covers. */
  async run(onProgress: (progress: { leaves: number; total: number }) => void): Promise<Salvaged> {
    const known = new KnownHeads({
      ...{ file: this.#file, table: this.#tables.get('heads'), keys: this.#keys },
      ...{ elsewhere: this.#elsewhere, maxStrays: this.#maxStrayHeads },
    });
    const heads = new HeadVerdicts(known, this.#keys);
    const { largest } = known;
    const tree = GrowingTree.load(sha256, 0, () => undefined)!;
    const root = () => tree.root();
    heads.compare(0, root);
    let stoppedAt: Salvaged['stoppedAt'];
    for (const hash of this.hashes(largest)) {
      if (hash === undefined) {
        stoppedAt = { index: tree.size, why: 'is missing or cannot be read' };
        break;
      }
      tree.append(hash);
      heads.compare(tree.size, root);
      if (tree.size % stepLeaves !== 0) continue;
      tree.takePages(); // frees the pages, which are not needed
      onProgress({ leaves: tree.size, total: largest });
      await turn();
    }
    heads.end();
    const { last, dropped } = heads;
    if (dropped.count > 0 && this.#altered !== undefined)
      stoppedAt ??= { index: this.#altered, why: 'does not match its leaf hash' };
    return {
      head: last,
      kept: () => heads.kept(),
      dropped,
      overlooked: known.overlooked,
      known: Math.max(largest, this.#lastIndex() + 1),
      stoppedAt,
    };
  }

  /** Yields the entries [0, size), which must be readable. */
  *entries(size: number): Generator<Buffer> {
    for (const entry of this.#read(size)) yield entry?.bytes ?? Buffer.alloc(0);
  }

  /** Yields leaf hashes of the entries [0, size); undefined for an unreadable entry. */
  *hashes(size: number): Generator<Hash | undefined> {
    for (const entry of this.#read(size)) yield entry?.hash;
  }

  /** Returns known ids of the entries [from, to), at most `limit`, from the entries or else from the index by id. */
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
      if (index >= from && index < to && found.size < limit && !found.has(index)) found.set(index, bytesToUuid(key));
    }
    return new Map([...found].sort(([a], [b]) => a - b));
  }

  /** The stored checkpoint, as text; undefined if no readable checkpoint is stored. */
  get checkpoint(): string | undefined {
    return this.#meta('checkpoint');
  }

  /** Whether `instance.json` was written beside the log. */
  get hasInstance(): boolean {
    return this.#meta('instance') !== undefined;
  }

  #meta(key: string): string | undefined {
    const table = this.#tables.get('meta');
    return table && findRow(this.#file, table, Buffer.from(key))?.toString();
  }

  *#read(size: number): Generator<{ readonly bytes: Buffer; readonly hash: Hash } | undefined> {
    const table = this.#tables.get('entries');
    const rows = table && new RowCursor(this.#file, table, noDamage);
    let at = rows?.next() === true ? keyNumber(rows.key()) : undefined;
    for (let index = 0; index < size; index++) {
      while (rows !== undefined && at !== undefined && at < index) at = rows.next() ? keyNumber(rows.key()) : undefined;
      yield this.#choose(index, size, at === index ? rows!.value() : undefined);
    }
  }

  /**
   * Returns the stored entry if it matches its node or the node is unknown. Otherwise returns the first of these that
   * exists: a copy in the file that matches the node, the stored entry, any copy that is a valid entry. Returns
   * undefined if none exists.
   */
  #choose(index: number, size: number, stored: Buffer | undefined): { bytes: Buffer; hash: Hash } | undefined {
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
    /** Returns the leaf hash in the nodes; undefined if the page cannot be read. */
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
