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
  /** Signed for `first + entries.length` leaves. */
  readonly head: SignedHead;
}

/** Stored data differs from what was written: it is missing, of another length, or cannot be followed. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** Damage of the latest head or of the right edge of the tree, which appends need. */
export class EdgeDamagedError extends DamagedError {}

/**
 * The storage of the ledger.
 *
 * Atomicity: after any crash, a commit is complete or absent.
 * Durability: `commit` returns after the flush. If it throws, the outcome is unknown and the storage may only
 * be closed; reopening it establishes the outcome.
 * Ownership: returned bytes belong to the caller.
 * Failure: reads throw `DamagedError` if the storage is damaged.
 */
export interface LedgerStorage {
  /** `new`: never initialised. `initialising`: keys may or may not exist yet. */
  readonly state: 'new' | 'initialising' | 'ready';
  setState(state: 'initialising' | 'ready'): void;
  /** `beforeCommit` runs when everything is written and nothing is committed. */
  commit(batch: CommitBatch, beforeCommit: () => void): void;
  /** The most recently signed head. */
  latestHead(): SignedHead | undefined;
  /** The most recently signed head of this size. */
  headOf(size: number): SignedHead | undefined;
  /** The head with this size and time. */
  headAt(size: number, timestampNs: bigint): SignedHead | undefined;
  /** The first signed head of this size. */
  firstHeadOf(size: number): SignedHead | undefined;
  /** Number of heads with a number, and number of heads: equal, unless a head was removed. */
  headCounts(): { readonly numbered: number; readonly heads: number };
  /** The signed heads, numbered from 0 in the order of signing, which is also the order of sizes. */
  readonly history: Pick<HeadHistory, 'count' | 'size' | 'from' | 'timestamps'>;
  /** The index of entries by kind. */
  readonly kinds: Pick<KindIndex, 'count' | 'countBelow' | 'range'>;
  /**
   * Adds data that a file of an earlier version lacks: numbers of heads, entries by kind. Before that, these
   * cannot be read and nothing can be committed.
   */
  complete(): void;
  canonical(index: number): Uint8Array<ArrayBuffer> | undefined;
  indexOf(entryId: string): number | undefined;
  page(page: PageAddress): Uint8Array | undefined;
  /** Copies a page, or as much of it as fits. Returns the full length of the page; 0 if it is missing. */
  readPage(page: PageAddress, into: Uint8Array): number;
  /**
   * Returns leaves of the first `segments` segments of the leaf-hash index whose hash has the same prefix,
   * oldest first.
   */
  leavesLike(hash: Hash, segments: number): Iterable<number>;
  /** Returns the stored checkpoint. */
  keptCheckpoint(): string | undefined;
  /** Returns after the flush. */
  keepCheckpoint(note: string): void;
  /** Returns the publication delays, each with the time since which it applies; empty before the first. */
  publicationPeriods(): readonly PublicationPeriod[];
  /** Returns after the flush. */
  setPublicationPeriods(periods: readonly PublicationPeriod[]): void;
  /** Returns the kid of the checkpoint key that was active when the log was last opened. */
  checkpointKey(): string | undefined;
  /** Returns after the flush. */
  recordCheckpointKey(kid: string): void;
  /** Whether `instance.json` was written beside this log. */
  readonly hasInstance: boolean;
  /** Returns after the flush. */
  recordInstance(): void;
  /**
   * Copies a consistent snapshot of the file to a new path; flushed. Resolves to the last head of the copy.
   */
  copyTo(path: string): Promise<SignedHead | undefined>;
  close(): Promise<void>;
}
