import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { SignedTreeHead } from '../../contract/resources/transparency.ts';
import type { ServiceError } from '../../errors.ts';
import type { TileAddress } from '../../tlog/tile.ts';
import { dataDamaged } from '../distrust.ts';
import { publishedAt } from '../keys/key-file.ts';
import { KeyRing } from '../keys/key-ring.ts';
import type {
  CheckpointNotes,
  ConsistencyProof,
  EntriesPage,
  EntriesQuery,
  HeadsPage,
  HeadsQuery,
  InclusionProof,
  LeafQuery,
  LogReader,
  LogView,
  ProofBundle,
  PublicJwk,
  ReadReport,
  StoredLeaf,
} from '../ledger.ts';
import type { LedgerCounter } from '../methods.ts';
import { openPublication } from '../publication.ts';
import { LeafIndex, segmentLeaves } from '../storage/leaf-index.ts';
import { LmdbStorage } from '../storage/lmdb-store.ts';
import { EdgeDamagedError, type SignedHead } from '../storage/storage.ts';
import { currentHeads } from './head-view.ts';
import { LedgerReads } from './ledger-reads.ts';
import { PublishedHeads } from './published-heads.ts';
import { Scrub } from './scrub.ts';
import { TileDigests } from './tile-digests.ts';
import { badSignature, isSigned, VerifiedHeads } from './verified-heads.ts';
import { VerifiedNodes } from './verified-nodes.ts';

/** Minimum time between reloads of the key folder while keys are lost, in milliseconds. */
const keysEveryMs = 500;
/**
 * Minimum age of a folder's modification time, in milliseconds, so that any later change is certain to alter that time.
 */
const settledMs = 100;

export interface ReaderOptions {
  readonly dataDir: string;
  readonly publicationDelayMs?: number;
  /** Returns nanoseconds since 1970. Default: the system's clock. */
  readonly clock?: () => bigint;
  /** Mode of the scrub. `by hand`: the scrub runs only when its steps are called. Default: in the background. */
  readonly scrub?: 'by hand';
  readonly counters?: { add(name: LedgerCounter, amount?: number): void };
}

/**
 * Reads ledger.mdb outside the thread that appends to it. LMDB shows a commit to readers only once it is
 * flushed, so nothing is served before it is durable. Each call reads one snapshot, the newest.
 */
export class SnapshotReader implements LogReader {
  readonly #storage: LmdbStorage;
  readonly #keysFolder: string;
  readonly #nodes: VerifiedNodes;
  readonly #views: Readonly<Record<LogView, LedgerReads>>;
  readonly scrub: Scrub;
  #keys: KeyRing;
  #keysLoadedAt = Number.NEGATIVE_INFINITY;
  /** The latest head when the keys were loaded. */
  #keysLoadedFor: SignedHead | undefined;
  /**
   * Modification time of the folder when its keys were loaded; undefined while the folder may still change without a
   * new modification time.
   */
  #keysChangedAt: number | undefined;
  /** The head of the snapshot. */
  #latest: SignedHead | undefined;
  /** The head whose signature was verified last. */
  #checked: SignedHead | undefined;
  #isFresh = false;
  #leaves: LeafIndex | undefined;
  /** Number of leaves in the index. */
  #indexed = 0;

  /** Opens the log of a data folder, which its owner must have opened before. @throws if it cannot be read */
  static async open(options: ReaderOptions): Promise<SnapshotReader> {
    const keysFolder = join(options.dataDir, 'keys');
    const storage = new LmdbStorage(join(options.dataDir, 'ledger.mdb'), { readOnly: true });
    return new SnapshotReader(options, storage, keysFolder, KeyRing.load(keysFolder));
  }

  private constructor(options: ReaderOptions, storage: LmdbStorage, keysFolder: string, keys: KeyRing) {
    const { clock = () => BigInt(Date.now()) * 1_000_000n, publicationDelayMs = 0, counters } = options;
    this.#storage = storage;
    this.#keysFolder = keysFolder;
    this.#keys = keys;
    const latest = () => this.#latest;
    const digests = new TileDigests();
    this.#nodes = new VerifiedNodes(storage, latest, digests);
    const reading = {
      storage,
      nodes: this.#nodes,
      keys: () => this.#keys,
      leaves: () => this.#leafIndex(),
      verified: new VerifiedHeads((head) => this.#isSigned(head)),
      count: (counter: LedgerCounter) => counters?.add(counter),
      onDamage: (message: string, isEdge: boolean) => this.#damaged(message, isEdge),
    };
    const current = new LedgerReads({ ...reading, heads: currentHeads(storage, latest) });
    const schedule = openPublication(storage, publicationDelayMs, clock, false);
    this.#views = {
      current,
      published: schedule.isImmediate
        ? current
        : new LedgerReads({ ...reading, heads: new PublishedHeads(storage, schedule, clock) }),
    };
    this.scrub = new Scrub({
      storage,
      latest,
      digests,
      isSigned: (head) => this.#isSigned(head),
      file: join(options.dataDir, 'scrub.json'),
      refresh: () => this.#freshSnapshot(),
      onChecked: (entries) => counters?.add('scrubbed', entries),
    });
    if (options.scrub !== 'by hand') this.scrub.start();
  }

  head(view: LogView, treeSize?: number): Promise<SignedTreeHead> {
    return this.#read(view, (reads) => reads.head(treeSize));
  }

  inclusion(view: LogView, leaf: LeafQuery, treeSize?: number): Promise<InclusionProof> {
    return this.#read(view, (reads) => reads.inclusion(leaf, treeSize));
  }

  consistency(view: LogView, first: number, second: number): Promise<ConsistencyProof> {
    return this.#read(view, (reads) => reads.consistency(first, second));
  }

  leaf(view: LogView, leaf: LeafQuery): Promise<StoredLeaf> {
    return this.#read(view, (reads) => reads.leaf(leaf));
  }

  heads(view: LogView, query: HeadsQuery): Promise<HeadsPage> {
    return this.#read(view, (reads) => reads.heads(query));
  }

  entries(view: LogView, query: EntriesQuery): Promise<EntriesPage> {
    return this.#read(view, (reads) => reads.entries(query));
  }

  async bundle(view: LogView, leaf: LeafQuery, { published, signed }: CheckpointNotes): Promise<ProofBundle> {
    await this.#loadChangedKeys();
    const bundle = await this.#read(view, (reads) => reads.bundle(leaf, { published, signed: () => signed }));
    return { ...bundle, keys: this.#visible(view, bundle.keys) };
  }

  async keys(view: LogView): Promise<PublicJwk[]> {
    await this.#loadChangedKeys();
    return this.#visible(view, this.#keys.publicJwks());
  }

  async currentKeys(view: LogView): Promise<PublicJwk[]> {
    await this.#loadChangedKeys();
    return this.#visible(view, this.#keys.currentJwks(this.#views[view].latest?.keyId));
  }

  tile(view: LogView, tile: TileAddress): Promise<Uint8Array<ArrayBuffer>> {
    return this.#read(view, (reads) => reads.tile(tile));
  }

  entryBundle(view: LogView, index: number, width: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.#read(view, (reads) => reads.entryBundle(index, width));
  }

  async report(): Promise<ReadReport> {
    return this.scrub.report();
  }

  async close(): Promise<void> {
    await this.scrub.stop();
    await this.#storage.close();
  }

  async #read<T>(view: LogView, read: (reads: LedgerReads) => T): Promise<T> {
    const reads = this.#views[view];
    reads.guarded(() => this.#refresh());
    await this.#loadNewSigner();
    reads.guarded(() => this.#checkLatest());
    return read(reads);
  }

  async #freshSnapshot(): Promise<void> {
    this.#refresh();
    await this.#loadNewSigner();
    this.#checkLatest();
  }

  /** Reloads the keys if the head is signed by an unknown key: the keys have changed. */
  async #loadNewSigner(): Promise<void> {
    while (this.#mayHaveNewSigner) {
      await this.#reloadKeys();
      this.#refresh();
    }
  }

  async #reloadKeys(): Promise<void> {
    const head = this.#latest;
    this.#keys = KeyRing.load(this.#keysFolder);
    [this.#keysLoadedFor, this.#keysLoadedAt] = [head, performance.now()];
  }

  /**
   * Reloads the keys if the folder's modification time changed: every change of a key file renames a file in the
   * folder. Bundles and key sets contain keys with their states. If the folder is lost, the keys in memory are still
   * served.
   */
  async #loadChangedKeys(): Promise<void> {
    const changedAt = statSync(this.#keysFolder, { throwIfNoEntry: false })?.mtimeMs;
    if (changedAt === undefined || changedAt === this.#keysChangedAt) return;
    // File times have a resolution of a few milliseconds, so a change just before the load may hide a later change.
    this.#keysChangedAt = Date.now() - changedAt > settledMs ? changedAt : undefined;
    await this.#reloadKeys();
  }

  #visible(view: LogView, keys: PublicJwk[]): PublicJwk[] {
    const { current, published } = this.#views;
    if (view === 'current' || published === current) return keys;
    const size = published.latest?.size ?? 0;
    return keys.map((jwk) => publishedAt(jwk, size));
  }

  /** Switches to the newest snapshot. Calls received together share it. */
  #refresh(): void {
    if (this.#isFresh) return;
    this.#isFresh = true;
    queueMicrotask(() => {
      this.#isFresh = false;
    });
    this.#storage.refresh();
    const head = this.#storage.latestHead();
    const [known, last] = [this.#latest, head];
    // The head in memory was verified. If the row still has its size and time, the scrub finds any later damage to the
    // row.
    if (known?.size !== last?.size || known?.timestampNs !== last?.timestampNs) this.#latest = head;
  }

  /** Whether a reload may find the unknown signer of the latest head. Key files are on disk before their keys sign. */
  get #mayHaveNewSigner(): boolean {
    if (this.#latest === undefined || this.#keys.get(this.#latest.keyId) !== undefined) return false;
    if (this.#latest !== this.#keysLoadedFor) return true;
    return performance.now() - this.#keysLoadedAt > keysEveryMs;
  }

  #checkLatest(): void {
    if (this.#latest === this.#checked || this.#latest === undefined) return;
    if (!this.#isSigned(this.#latest)) throw new EdgeDamagedError(badSignature(this.#latest));
    this.#checked = this.#latest;
  }

  #isSigned(head: SignedHead): boolean {
    return isSigned(head, { keys: this.#keys, storage: this.#storage, latest: this.#latest });
  }

  /** Returns the index of leaf hashes, updated to the snapshot. */
  #leafIndex(): LeafIndex {
    const size = this.#latest?.size ?? 0;
    const leafAt = (index: number) => this.#nodes.hashAt({ level: 0, index });
    if (this.#leaves === undefined || size - this.#indexed > segmentLeaves) {
      this.#leaves = LeafIndex.load(size, leafAt);
      this.#indexed = size;
    }
    while (this.#indexed < size) this.#leaves.add(leafAt(this.#indexed++));
    return this.#leaves;
  }

  #damaged(message: string, isEdge: boolean): ServiceError {
    this.scrub.found(message, isEdge);
    return dataDamaged(message);
  }
}
