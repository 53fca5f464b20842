import type { PackedPage } from '../../tlog/growing-tree.ts';
import type { TreeHead } from '../../tlog/head.ts';
import type { PageAddress } from '../../tlog/page.ts';
import type { Hash } from '../../tlog/tree.ts';
import type { PublicationPeriod } from '../publication.ts';
import type { HeadHistory } from './head-history.ts';
import type { KindIndex } from './kind-index.ts';

export interface SignedHead extends TreeHead {
  readonly signature: Uint8Array;
  readonly keyId: string;
}

export interface StoredEntry {
  readonly id: string;
  readonly kind: string;
  readonly canonical: Uint8Array;
}

/** A completed bucket of the leaf-hash index: see leaf-index.ts. */
export interface LeafBucket {
  readonly segment: number;
  readonly bucket: number;
  readonly rows: Uint8Array;
}

/** The additions of one commit. */
export interface CommitBatch {
  /** Index of the first entry: the size before the commit. */
  readonly first: number;
  readonly entries: readonly StoredEntry[];
  readonly pages: readonly PackedPage[];
  readonly buckets: readonly LeafBucket[];
  /** The head, signed for `first + entries.length` leaves. */
  readonly head: SignedHead;
}

/** Thrown if stored data differs from the data that was written: it is missing, has another length, or is invalid. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** Thrown if the latest head or the right edge of the tree is damaged. Appends need both. */
export class EdgeDamagedError extends DamagedError {}

/**
 * The storage of the ledger.
 *
 * Atomicity: after any crash, a commit is complete or absent. Durability: `commit` returns after the flush. If it
 * throws, the outcome is unknown and the storage must be closed; reopening it shows the outcome. Ownership: returned
 * bytes belong to the caller. Failure: reads throw `DamagedError` if the storage is damaged.
 */
export interface LedgerStorage {
  /** State of the log. `new`: never initialised. `initialising`: keys may or may not exist yet. */
  readonly state: 'new' | 'initialising' | 'ready';
  setState(state: 'initialising' | 'ready'): void;
  /** Commits the batch. `beforeCommit` is called when everything is written and nothing is committed. */
  commit(batch: CommitBatch, beforeCommit: () => void): void;
  /** Returns the most recently signed head; undefined for an empty log. */
  latestHead(): SignedHead | undefined;
  /** Returns the most recently signed head of this size; undefined if no head of this size is stored. */
  headOf(size: number): SignedHead | undefined;
  /** Returns the head with this size and time; undefined if it is not stored. */
  headAt(size: number, timestampNs: bigint): SignedHead | undefined;
  /** Returns the first signed head of this size; undefined if no head of this size is stored. */
  firstHeadOf(size: number): SignedHead | undefined;
  /**
   * Returns the number of heads with a number, and the number of heads. The two are equal unless a head was removed.
   */
  headCounts(): { readonly numbered: number; readonly heads: number };
  /** The signed heads, numbered from 0 in the order of signing, which is also the order of sizes. */
  readonly history: Pick<HeadHistory, 'count' | 'size' | 'from' | 'timestamps'>;
  /** The index of entries by kind. */
  readonly kinds: Pick<KindIndex, 'count' | 'countBelow' | 'range'>;
  /**
   * Adds data that a file of an earlier version lacks: numbers of heads, entries by kind. Until then, this data cannot
   * be read and nothing can be committed.
   */
  complete(): void;
  canonical(index: number): Uint8Array<ArrayBuffer> | undefined;
  indexOf(entryId: string): number | undefined;
  page(page: PageAddress): Uint8Array | undefined;
  /** Copies a page, or as much of it as fits. Returns the full length of the page; 0 if it is missing. */
  readPage(page: PageAddress, into: Uint8Array): number;
  /**
   * Returns, oldest first, the leaves whose hash has the same prefix as `hash`, from the first `segments` segments of
   * the leaf-hash index.
   */
  leavesLike(hash: Hash, segments: number): Iterable<number>;
  /** Returns the stored checkpoint; undefined if no checkpoint is stored. */
  keptCheckpoint(): string | undefined;
  /** Stores the checkpoint. Returns after the flush. */
  keepCheckpoint(note: string): void;
  /** Returns the publication delays, each with the time since which it applies; empty if none was ever stored. */
  publicationPeriods(): readonly PublicationPeriod[];
  /** Stores the publication delays. Returns after the flush. */
  setPublicationPeriods(periods: readonly PublicationPeriod[]): void;
  /**
   * Returns the kid of the checkpoint key that was active when the log was last opened; undefined if no kid is stored.
   */
  checkpointKey(): string | undefined;
  /** Stores the kid. Returns after the flush. */
  recordCheckpointKey(kid: string): void;
  /** Whether `instance.json` was written beside this log. */
  readonly hasInstance: boolean;
  /** Records that `instance.json` was written. Returns after the flush. */
  recordInstance(): void;
  /**
   * Copies a consistent snapshot of the file to a new path, and flushes the copy. Resolves to the last head of the
   * copy; undefined for an empty log.
   */
  copyTo(path: string): Promise<SignedHead | undefined>;
  close(): Promise<void>;
}

/** Runs a read. Unreadable LMDB pages and undecodable rows are damage, not bugs. @throws DamagedError */
export function readRow<T>(get: () => T): T {
  try {
    return get();
  } catch (error) {
    if (error instanceof DamagedError) throw error;
    throw new DamagedError(`ledger.mdb cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
}
