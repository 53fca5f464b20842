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

/** Rows of the leaf-hash index that came to be complete: see leaf-index.ts. */
export interface LeafBucket {
  readonly segment: number;
  readonly bucket: number;
  readonly rows: Uint8Array;
}

/** What one commit adds. */
export interface CommitBatch {
  /** Index of the first entry: the size before. */
  readonly first: number;
  readonly entries: readonly StoredEntry[];
  readonly pages: readonly PackedPage[];
  readonly buckets: readonly LeafBucket[];
  /** Signed for `first + entries.length` leaves. */
  readonly head: SignedHead;
}

/** What was read is not what was written: missing, of another length, or nothing that can be followed. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** Damage of the latest head or of the right edge of the tree, from which appends go on. */
export class EdgeDamagedError extends DamagedError {}

/**
 * What the ledger asks of a disk.
 *
 * Atomicity: a commit is there as a whole or not at all, after any crash.
 * Durability: `commit` returns after the flush. When it throws, the outcome is unknown and the storage may only be
 * closed: what is true is found by opening it again.
 * Ownership: bytes that are handed out belong to the caller.
 * Failure: reads throw `DamagedError` where the storage can't be followed.
 */
export interface LedgerStorage {
  /** `new`: never initialised. `initialising`: keys may or may not exist yet. */
  readonly state: 'new' | 'initialising' | 'ready';
  setState(state: 'initialising' | 'ready'): void;
  /** `beforeCommit` runs when everything is written and nothing is committed. */
  commit(batch: CommitBatch, beforeCommit: () => void): void;
  /** The head signed last. */
  latestHead(): SignedHead | undefined;
  /** The head signed last for this size. */
  headOf(size: number): SignedHead | undefined;
  /** The head with this size and time. */
  headAt(size: number, timestampNs: bigint): SignedHead | undefined;
  /** The head signed first for this size. */
  firstHeadOf(size: number): SignedHead | undefined;
  /** How many heads have a number, and how many there are: the same, unless one was removed. */
  headCounts(): { readonly numbered: number; readonly heads: number };
  /** The heads signed so far, numbered from 0 in the order in which they were signed, which is that of sizes. */
  readonly history: Pick<HeadHistory, 'count' | 'size' | 'from' | 'timestamps'>;
  /** Where the entries of each kind are. */
  readonly kinds: Pick<KindIndex, 'count' | 'countBelow' | 'range'>;
  /**
   * Writes what a file of an earlier version lacks: numbers of heads, entries by kind. Until then those can't be read,
   * and nothing can be committed.
   */
  complete(): void;
  canonical(index: number): Uint8Array<ArrayBuffer> | undefined;
  indexOf(entryId: string): number | undefined;
  page(page: PageAddress): Uint8Array | undefined;
  /** Copies a page, or as much of it as fits, and returns the length that it has; 0 where it is missing. */
  readPage(page: PageAddress, into: Uint8Array): number;
  /** Leaves of the first `segments` segments of the leaf-hash index whose hash begins as this one does, oldest first. */
  leavesLike(hash: Hash, segments: number): Iterable<number>;
  /** The checkpoint that was kept last. */
  keptCheckpoint(): string | undefined;
  /** Returns after the flush. */
  keepCheckpoint(note: string): void;
  /** Since when which delay holds for the publication of heads; empty before the first. */
  publicationPeriods(): readonly PublicationPeriod[];
  /** Returns after the flush. */
  setPublicationPeriods(periods: readonly PublicationPeriod[]): void;
  /** kid of the checkpoint key that was active when the log was last opened. */
  checkpointKey(): string | undefined;
  /** Returns after the flush. */
  recordCheckpointKey(kid: string): void;
  /** Whether `instance.json` was written beside this log. */
  readonly hasInstance: boolean;
  /** Returns after the flush. */
  recordInstance(): void;
  /** Copies the file, as of one moment, to a path where there is none; flushed. Resolves to the head that it ends with. */
  copyTo(path: string): Promise<SignedHead | undefined>;
  close(): Promise<void>;
}
