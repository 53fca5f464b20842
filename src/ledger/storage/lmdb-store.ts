import { rm } from 'node:fs/promises';
import { copyDatabase, type Database, isReadOnly, openDatabase, type RootDatabase } from '../../database/lmdb.ts';
import type { PageAddress } from '../../tlog/page.ts';
import type { Hash } from '../../tlog/tree.ts';
import { uuidToBytes } from '../../uuid.ts';
import type { PublicationPeriod } from '../publication.ts';
import { encodeHeadRow, HeadHistory, headKey, lastHead } from './head-history.ts';
import { KindIndex } from './kind-index.ts';
import { dueSlices, type LeafBuckets, leavesLike, mergeSlice } from './leaf-runs.ts';
import {
  type CommitBatch,
  DamagedError,
  type LeafBucket,
  type LedgerStorage,
  readRow,
  type SignedHead,
  type StoredEntry,
} from './storage.ts';

/** A part of a rebuilt log: the entries from index `first` onwards, and any number of heads. */
export interface RebuiltPart extends Omit<CommitBatch, 'entries' | 'head'> {
  readonly entries: readonly Pick<StoredEntry, 'id' | 'canonical'>[];
  readonly heads: readonly SignedHead[];
}

const format = 1;

/** Rows of an older file that are completed per transaction. */
const completedRows = 16_384;

/**
 * ledger.mdb. The tables `entries`, `heads` and `history` grow only at their ends.
 *
 *     meta      'format' → {format, state}; 'checkpoint' → the stored checkpoint; 'checkpoint_key' → kid of its
 *               key; 'publication' → periods (JSON); 'instance' → exists once instance.json was written
 *     entries   index → canonical bytes
 *     ids       entry id (16 bytes; UUIDv7, so nearly in order) → index (u64be)
 *     pages     [level, index] → page of nodes (src/tlog/page.ts)
 *     heads     [size, timestamp / 1024 ns] → signed 48 bytes ‖ signature ‖ key id
 *     history   number of the head, from 0 → its size and timestamp (head-history.ts)
 *     leaves    [segment, bucket] → rows of the leaf-hash index (leaf-index.ts)
 *     runs      [level, run, bucket] → rows of merged segments (leaf-runs.ts)
 *     kinds     [kind, chunk] → leaf indices (kind-index.ts)
 */
export class LmdbStorage implements LedgerStorage {
  readonly #root: RootDatabase;
  readonly #meta: Database;
  readonly #entries: Database;
  readonly #ids: Database;
  readonly #pages: Database;
  readonly #heads: Database;
  readonly #numbers: Database;
  readonly #history: HeadHistory;
  readonly #leaves: Database;
  readonly #runs: Database;
  readonly #kinds: Database;
  readonly #buckets: LeafBuckets = {
    get: (level, run, bucket) =>
      readRow(() => (level === 0 ? this.#leaves.getBinary([run, bucket]) : this.#runs.getBinary([level, run, bucket]))),
  };
  /** Created on first use, so that start-up reads and reports a damaged file. */
  #kindIndex: KindIndex | undefined;

  /**
   * Opens the file, or creates an empty file. With `readOnly`, opens an existing file for a reader in addition to the
   * owner.
   */
  constructor(path: string, { readOnly = false } = {}) {
    const root = openDatabase(path, { maxDbs: 16, readOnly });
    const table = (name: string) => root.openDB({ name, encoding: 'binary' });
    this.#root = root;
    this.#meta = table('meta');
    this.#entries = table('entries');
    this.#ids = root.openDB({ name: 'ids', encoding: 'binary', keyEncoding: 'binary' });
    this.#pages = table('pages');
    this.#heads = table('heads');
    this.#numbers = table('history');
    this.#history = new HeadHistory(this.#numbers, this.#heads);
    this.#leaves = table('leaves');
    this.#runs = table('runs');
    this.#kinds = table('kinds');
  }

  get state(): LedgerStorage['state'] {
    const meta = readRow((): { format: number; state: 'initialising' | 'ready' } | undefined => {
      const row = this.#meta.getBinary('format');
      return row && JSON.parse(text(row));
    });
    if (meta === undefined) return 'new';
    if (meta.format !== format) {
      throw new Error(
        `ledger.mdb has format ${meta.format}; this program supports format ${format}; use a newer version`,
      );
    }
    return meta.state;
  }

  setState(state: 'initialising' | 'ready'): void {
    this.#root.transactionSync(() => this.#meta.putSync('format', Buffer.from(JSON.stringify({ format, state }))));
  }

  commit(batch: CommitBatch, beforeCommit: () => void): void {
    const size = batch.first + batch.entries.length;
    if (batch.head.size !== size) throw new Error(`the head has ${batch.head.size} leaves instead of ${size}`);
    const kinds = this.#kindsOf(batch.first);
    let counting: (() => void)[] = [];
    // Returns after the operating system has flushed data and meta page (see openDatabase), or throws.
    this.#root.transactionSync(() => {
      // Only the owner may write: after a write by any other process, the tree in memory would not match the file.
      const stored = this.latestHead()?.size ?? 0;
      if (stored !== batch.first) throw new Error(`ledger.mdb has ${stored} leaves, but the ledger has ${batch.first}`);
      batch.entries.forEach((entry, i) => {
        this.#entries.putSync(batch.first + i, entry.canonical);
        this.#ids.putSync(uuidToBytes(entry.id), encodeIndex(batch.first + i));
      });
      for (const page of batch.pages) this.#pages.putSync([page.level, page.index], page.bytes);
      this.#indexLeaves(batch.first, size, batch.buckets);
      counting = [
        this.#history.write(batch.head),
        kinds.write(
          batch.first,
          batch.entries.map(({ kind }) => kind),
        ),
      ];
      beforeCommit();
    });
    for (const count of counting) count();
  }

  /** Writes a part of a rebuilt log to a new file, and returns after the flush. `complete` adds the remaining data. */
  load({ first, entries, pages, buckets, heads }: RebuiltPart): void {
    this.#root.transactionSync(() => {
      entries.forEach(({ id, canonical }, i) => {
        this.#entries.putSync(first + i, canonical);
        this.#ids.putSync(uuidToBytes(id), encodeIndex(first + i));
      });
      for (const page of pages) this.#pages.putSync([page.level, page.index], page.bytes);
      this.#indexLeaves(first, first + entries.length, buckets);
      for (const head of heads) this.#heads.putSync(headKey(head), encodeHeadRow(head));
    });
  }

  complete(): void {
    if (isReadOnly(this.#root)) return;
    while (this.#root.transactionSync(() => this.#history.numberNext(completedRows)));
    while (this.#completeKinds());
  }

  latestHead(): SignedHead | undefined {
    return lastHead(this.#heads, { reverse: true, limit: 1 });
  }

  headOf(size: number): SignedHead | undefined {
    // Reads backward, from after the last timestamp of this size to before the first timestamp of this size.
    return lastHead(this.#heads, {
      start: [size, Number.MAX_SAFE_INTEGER],
      end: [size, -1],
      reverse: true,
      limit: 1,
    });
  }

  headAt(size: number, timestampNs: bigint): SignedHead | undefined {
    const key = headKey({ size, timestampNs });
    return lastHead(this.#heads, { start: key, end: [size, key[1]! + 1], limit: 1 });
  }

  firstHeadOf(size: number): SignedHead | undefined {
    return lastHead(this.#heads, { start: [size, 0], end: [size, Number.MAX_SAFE_INTEGER], limit: 1 });
  }

  headCounts(): { numbered: number; heads: number } {
    const rows = (table: Database) => (table.getStats() as { entryCount: number }).entryCount;
    return { numbered: rows(this.#numbers), heads: rows(this.#heads) };
  }

  get history(): HeadHistory {
    return this.#history;
  }

  get kinds(): KindIndex {
    return this.#kindsOf(this.latestHead()?.size ?? 0);
  }

  canonical(index: number): Uint8Array<ArrayBuffer> | undefined {
    const bytes = readRow(() => this.#entries.getBinaryFast(index)); // valid until the next read
    return bytes && new Uint8Array(bytes.subarray(0, bytes.length));
  }

  indexOf(entryId: string): number | undefined {
    const row = readRow(() => this.#ids.getBinary(uuidToBytes(entryId)));
    return row && Number(row.readBigUInt64BE());
  }

  page(page: PageAddress): Uint8Array | undefined {
    return readRow(() => this.#pages.getBinary([page.level, page.index]));
  }

  readPage(page: PageAddress, into: Uint8Array): number {
    return readRow(() => {
      const bytes = this.#pages.getBinaryFast([page.level, page.index]);
      if (bytes === undefined) return 0;
      into.set(bytes.subarray(0, Math.min(bytes.length, into.length)));
      return bytes.length;
    });
  }

  leavesLike(hash: Hash, segments: number): Iterable<number> {
    return leavesLike(hash, segments, this.#buckets);
  }

  keptCheckpoint(): string | undefined {
    const row = readRow(() => this.#meta.getBinary('checkpoint'));
    return row && text(row);
  }

  keepCheckpoint(note: string): void {
    this.#root.transactionSync(() => this.#meta.putSync('checkpoint', Buffer.from(note)));
  }

  checkpointKey(): string | undefined {
    const row = readRow(() => this.#meta.getBinary('checkpoint_key'));
    return row && text(row);
  }

  recordCheckpointKey(kid: string): void {
    this.#root.transactionSync(() => this.#meta.putSync('checkpoint_key', Buffer.from(kid)));
  }

  publicationPeriods(): readonly PublicationPeriod[] {
    const row = readRow(() => this.#meta.getBinary('publication'));
    return row === undefined ? [] : readRow(() => JSON.parse(text(row)));
  }

  setPublicationPeriods(periods: readonly PublicationPeriod[]): void {
    this.#root.transactionSync(() => this.#meta.putSync('publication', Buffer.from(JSON.stringify(periods))));
  }

  get hasInstance(): boolean {
    return readRow(() => this.#meta.getBinary('instance')) !== undefined;
  }

  recordInstance(): void {
    this.#root.transactionSync(() => this.#meta.putSync('instance', Buffer.from('written')));
  }

  /** Makes the reader's next calls in this turn of the event loop read the newest commit. */
  refresh(): void {
    this.#root.resetReadTxn();
    this.#history.refresh();
    this.#kindIndex = undefined;
  }

  async copyTo(path: string): Promise<SignedHead | undefined> {
    await copyDatabase(this.#root, path);
    const copy = openDatabase(path, { readOnly: true });
    try {
      return lastHead(copy.openDB({ name: 'heads', encoding: 'binary' }), { reverse: true, limit: 1 });
    } finally {
      await copy.close();
      await rm(`${path}-lock`, { force: true });
    }
  }

  close(): Promise<void> {
    return this.#root.close();
  }

  #indexLeaves(first: number, size: number, complete: readonly LeafBucket[]): void {
    for (const { segment, bucket, rows } of complete) this.#leaves.putSync([segment, bucket], rows);
    for (const slice of dueSlices(first, size)) {
      for (const { level, run, bucket, rows } of mergeSlice(slice, this.#buckets))
        this.#runs.putSync([level, run, bucket], rows);
    }
  }

  /** Returns the index by kind. @throws DamagedError unless the index has all of `size` entries */
  #kindsOf(size: number): KindIndex {
    const kinds = this.#loadKinds();
    if (kinds.total !== size) throw new DamagedError(`the index by kind has ${kinds.total} of ${size} entries`);
    return kinds;
  }

  #loadKinds(): KindIndex {
    this.#kindIndex ??= readRow(() => new KindIndex(this.#kinds));
    return this.#kindIndex;
  }

  /** Indexes the next entries that are not indexed yet. Returns false if all entries are indexed. */
  #completeKinds(): boolean {
    const index = this.#loadKinds();
    const first = index.total;
    const missing = Math.min(completedRows, (this.latestHead()?.size ?? 0) - first);
    if (missing <= 0) return false;
    const kinds = Array.from({ length: missing }, (_, i) => this.#kindAt(first + i));
    let count = (): void => undefined;
    this.#root.transactionSync(() => {
      count = index.write(first, kinds);
    });
    count();
    return true;
  }

  #kindAt(index: number): string {
    const canonical = this.canonical(index);
    if (canonical === undefined) throw new DamagedError(`entry ${index} is missing`);
    return readRow(() => String((JSON.parse(text(canonical)) as { kind?: unknown }).kind));
  }
}

function encodeIndex(index: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(index));
  return bytes;
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
