import type { Health } from '../contract/resources/health.ts';
import type { Key } from '../contract/resources/key.ts';
import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import type { ConsistencyProof, InclusionProof, LogEntry, SignedTreeHead } from '../contract/resources/transparency.ts';
import type { ledgerFaults } from '../contract/vocabulary.ts';
import type { TileAddress } from '../tlog/tile.ts';

export type { ConsistencyProof, InclusionProof };

/** An entry that does not have a key and a signature yet. `id` (UUIDv7) makes an append idempotent. */
export type UnsignedEntry = Omit<LogEntry, 'key_id' | 'signature'>;

/** The position of an entry in the log. When it is returned, the head of `tree_size` is signed and on disk. */
export interface Appended {
  readonly id: string;
  readonly leaf_index: number;
  readonly tree_size: number;
  /** Hash of the leaf: lowercase hex, 32 bytes. */
  readonly leaf_hash: string;
}

export interface StoredLeaf {
  readonly leaf_index: number;
  readonly leaf_hash: string;
  /** The exact bytes that were hashed: JCS (RFC 8785) of the whole entry. */
  readonly canonical: Uint8Array;
}

/** Selects a leaf by exactly one of the three members. */
export interface LeafQuery {
  readonly leaf_index?: number;
  readonly entry_id?: string;
  readonly leaf_hash?: string;
}

export type LedgerHealth =
  | { readonly state: 'ok' }
  /** Appends are refused with UNAVAILABLE; readable data is served. `advice` is addressed to the operator. */
  | { readonly state: 'degraded'; readonly fault: LedgerFault; readonly advice: string };

/** Reason why appends are refused. */
export type LedgerFault = (typeof ledgerFaults)[number];

/** A condition that needs the operator's attention. */
export type LedgerFinding = NonNullable<Health['findings']>[number];
export type LedgerFindingCode = LedgerFinding['code'];

/** A page of the heads with sizes `from_size` ≤ size < `to_size`, newest last. `page` counts from 1. */
export interface HeadsQuery {
  readonly from_size?: number;
  readonly to_size?: number;
  readonly page: number;
  readonly per_page: number;
}

export interface HeadsPage {
  readonly heads: readonly SignedTreeHead[];
  readonly total: number;
}

/** Entries with `from` ≤ leaf index < `to`, oldest first. If `kinds` is given, only entries of these kinds. */
export interface EntriesQuery {
  readonly from?: number;
  readonly to?: number;
  readonly kinds?: readonly string[];
  readonly page: number;
  readonly per_page: number;
}

export interface EntriesPage {
  readonly leaves: readonly StoredLeaf[];
  readonly total: number;
}

/** Proves offline that one entry is in the log. */
export interface ProofBundle {
  readonly leaf: StoredLeaf;
  readonly audit_path: string[];
  readonly head: SignedTreeHead;
  /** Only the keys that signed head, entry and checkpoint. */
  readonly keys: PublicJwk[];
  /**
   * A proof against a checkpoint. Absent while the log is degraded and the published checkpoint does not cover the
   * leaf.
   */
  readonly checkpoint?: BundleCheckpoint;
  readonly timestamps: BundleTimestamps;
}

/** The leaf with its proof against a checkpoint. */
export interface BundleCheckpoint {
  /** The proof in the format C2SP tlog-proof. */
  readonly tlog_proof: string;
  /**
   * Whether the checkpoint is the published checkpoint. Otherwise the log signed it for this bundle, without
   * cosignatures.
   */
  readonly published: boolean;
  /**
   * Consistency proof from the checkpoint's tree to the head's, hex (RFC 6962 section 2.1.2); empty for equal
   * sizes.
   */
  readonly consistency: readonly string[];
}

/** RFC 3161 timestamps before and after a leaf, one per authority. */
export interface BundleTimestamps {
  /** Entries of kind checkpoint.timestamped before the leaf, with their paths to the root of the head. */
  readonly not_before: readonly { readonly leaf: StoredLeaf; readonly audit_path: readonly string[] }[];
  /** Timestamps of checkpoints whose tree contains the leaf, with its path to the root of that checkpoint. */
  readonly not_after: readonly {
    readonly authority: string;
    /** Time of the timestamp, ISO 8601. */
    readonly gen_time: string;
    /** The timestamped note. */
    readonly checkpoint: string;
    /** The token: base64 of the DER encoding. */
    readonly token: string;
    readonly audit_path: readonly string[];
  }[];
}

/** A signature of the bytes of a receipt (`receiptBytes`), lowercase hex. */
export interface ReceiptSignature {
  readonly key_id: string;
  readonly signature: string;
}

/** A key as reported to operators, identified by `kid`. */
export type KeyRecord = Key;

/** A changed key and the ids of the entries that record the change. */
export interface ChangedKey extends KeyRecord {
  readonly entry_ids: readonly string[];
}

/** Purposes whose keys the ledger holds. */
export type LedgerKeyPurpose = Exclude<Key['purpose'], 'witness'>;

/** Keys that issue and verify access tokens. Private parts never leave the process. */
export interface AccessTokenKeys {
  /** The private JWK that signs. */
  readonly current: PublicJwk;
  /** Public JWKs whose tokens are still valid: the current key, and retired keys until their tokens have expired. */
  readonly verifying: readonly PublicJwk[];
}

/** A copy of ledger.mdb and the keys, made while appends continued. */
export interface LedgerCopy {
  /** The last head of the copy; undefined for an empty log. */
  readonly head: SignedTreeHead | undefined;
  /** Names of the files written, relative to the folder. */
  readonly files: readonly string[];
}

export interface LedgerStatus {
  readonly size: number;
  readonly head: SignedTreeHead | undefined;
  readonly health: LedgerHealth;
  /** The key that signed the current head. */
  readonly sth_key_id: string;
  /** Fingerprint of the key that signed the current head: SHA-256 of the raw public key, hex. */
  readonly sth_key_fingerprint: string;
  /** The key that verifies checkpoints, as a C2SP signed-note verifier key named after the log's origin. */
  readonly checkpoint_vkey: string;
  /** The current life of the log: its id and the time of its entry (ISO 8601); absent in the first life. */
  readonly life?: { readonly id: string; readonly at: string };
  /**
   * Set while a life has its keys but not its entry, because the disk is full or the signer is unreachable. Until the
   * entry is logged, other entries are refused.
   */
  readonly life_pending?: true;
  /** The event that began the current life, which auditors see as a new log. Absent in the first life. */
  readonly regression?: NonNullable<Health['regression']>;
  /** Problems noticed at start-up that do not stop the log. */
  readonly warnings: readonly string[];
  /** Open findings, oldest first. */
  readonly findings: readonly LedgerFinding[];
  /** Progress of the check of the whole tree. Absent until the log reader's thread has reported. */
  readonly scrub?: ScrubProgress;
}

/**
 * View of the log. `current`: as of the latest head. `published`: as of the latest published head
 * (`ledger.publication_delay_ms`).
 */
export type LogView = 'current' | 'published';

/** Progress of the check of the whole tree. Times are ISO 8601. */
export interface ScrubProgress {
  readonly pass_began_at: string;
  /** Number of entries checked in this pass. */
  readonly checked: number;
  /** Number of entries that this pass must check. */
  readonly total: number;
  /** End of the last complete pass; absent before the first. */
  readonly last_pass_at?: string;
  /** Damaged entries, pages and heads found by the last pass. */
  readonly last_pass_damaged?: number;
}

/** Report of the log reader's thread to the ledger. Times are Unix milliseconds. */
export interface ReadReport {
  /**
   * The most recently found damage. `is_edge`: in the latest head or the right edge of the tree. Appends
   * need both.
   */
  readonly damage?: { readonly at: number; readonly message: string; readonly is_edge: boolean };
  /** Start of the last pass over the whole tree that found no damage. */
  readonly clean_pass_began_at?: number;
  readonly scrub: ScrubProgress;
}

/** Checkpoints as notes: the published checkpoint, and a checkpoint that the log signed for the bundle. */
export interface CheckpointNotes {
  readonly published?: string | undefined;
  readonly signed?: string | undefined;
}

/**
 * Reads the log in a separate thread, so that proofs do not slow appends. Everything is verified against a signed head
 * before it is returned.
 *
 * Order: a read includes every append that resolved before the read was called. Failure: INTERNAL if stored data is
 * damaged; otherwise the errors of the methods of `Ledger` with the same names.
 */
export interface LogReader {
  head(view: LogView, treeSize?: number): Promise<SignedTreeHead>;
  inclusion(view: LogView, leaf: LeafQuery, treeSize?: number): Promise<InclusionProof>;
  consistency(view: LogView, first: number, second: number): Promise<ConsistencyProof>;
  leaf(view: LogView, leaf: LeafQuery): Promise<StoredLeaf>;
  heads(view: LogView, query: HeadsQuery): Promise<HeadsPage>;
  entries(view: LogView, query: EntriesQuery): Promise<EntriesPage>;
  /**
   * Returns the leaf with its proofs against the latest head of the view, and against the first note that
   * covers it.
   */
  bundle(view: LogView, leaf: LeafQuery, notes: CheckpointNotes): Promise<ProofBundle>;
  tile(view: LogView, tile: TileAddress): Promise<Uint8Array<ArrayBuffer>>;
  entryBundle(view: LogView, index: number, width: number): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Returns the same keys as `Ledger.keys`. In the published view, size attributes of keys (`svc_*_size`) above the
   * size of the view's head are left out or reduced: see `publishedAt`.
   */
  keys(view: LogView): Promise<PublicJwk[]>;
  /** Returns the same keys as `Ledger.currentKeys`, for the head of the view. */
  currentKeys(view: LogView): Promise<PublicJwk[]>;
  report(): Promise<ReadReport>;
  close(): Promise<void>;
}

/** One RFC 7517 key with the `svc_*` attributes of the specification. */
export type PublicJwk = Readonly<Record<string, string | number>>;

/**
 * The transparency log, as used by the rest of the service. The log runs in its own thread.
 *
 * Order: entries of one call get consecutive indices in the order given; calls are served in order of
 * arrival.
 * Durability: `append` resolves only after entries, nodes and a signed head that covers them are flushed to
 * disk.
 * Idempotence: appending an `id` that is in the log returns its first index and adds nothing.
 * Failure: UNAVAILABLE while degraded; WORKER_LOST if the thread dies, after which the outcome is unknown and
 * the same entries may be appended again.
 */
export interface Ledger {
  append(entries: readonly UnsignedEntry[]): Promise<Appended[]>;
  /** Signs a receipt with the event key, outside the ledger's thread. Throws UNAVAILABLE while degraded. */
  signReceipt(receipt: ReceiptStatement): Promise<ReceiptSignature>;
  /**
   * Returns the latest head, or the head signed for `treeSize`. Throws LOG_EMPTY before the first entry, and NOT_FOUND
   * for a size without a head.
   */
  head(treeSize?: number): Promise<SignedTreeHead>;
  /**
   * Returns an inclusion proof. Throws INVALID_REQUEST unless leaf_index < tree_size ≤ size, and NOT_FOUND for an
   * unknown id or hash.
   */
  inclusion(leaf: LeafQuery, treeSize?: number): Promise<InclusionProof>;
  /** Returns a consistency proof. Throws INVALID_REQUEST unless 0 < first < second ≤ size. */
  consistency(first: number, second: number): Promise<ConsistencyProof>;
  leaf(leaf: LeafQuery): Promise<StoredLeaf>;
  /** Returns the history of heads. Throws INVALID_REQUEST for sizes out of order. */
  heads(query: HeadsQuery): Promise<HeadsPage>;
  /** Returns leaves by range and kind, with an exact `total`. Throws INVALID_REQUEST for indices out of order. */
  entries(query: EntriesQuery): Promise<EntriesPage>;
  /**
   * Returns the leaf with an inclusion proof against the latest head of `view` (default: `current`). If the
   * published checkpoint `published` covers the leaf, adds a proof against it. Throws the same errors as
   * `inclusion`.
   */
  bundle(leaf: LeafQuery, published?: string, view?: LogView): Promise<ProofBundle>;
  /**
   * Returns the latest head of the view, `published` by default, as a checkpoint (C2SP tlog-checkpoint): a note signed
   * by the key with purpose `checkpoint` under the configured origin. Throws LOG_EMPTY before the first entry.
   */
  checkpoint(view?: LogView): Promise<string>;
  /**
   * Stores a checkpoint with its cosignatures, and resolves after the flush. A checkpoint of a smaller tree than the
   * stored checkpoint's is ignored.
   */
  keepCheckpoint(note: string): Promise<void>;
  /** Returns the stored checkpoint; undefined if no checkpoint is stored. */
  keptCheckpoint(): Promise<string | undefined>;
  /**
   * Returns the hashes of a tile (C2SP tlog-tiles), 32 · width bytes. Throws NOT_FOUND if the tree does not have the
   * tile yet.
   */
  tile(tile: TileAddress): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Returns the entries of bundle `index` (C2SP tlog-tiles), each prefixed with its u16be length. Throws NOT_FOUND if
   * the tree does not have the bundle yet.
   */
  entryBundle(index: number, width: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns every public key ever used, of every purpose, oldest first. */
  keys(): Promise<PublicJwk[]>;
  /**
   * Returns the keys needed to verify current responses, oldest first: active keys, pending keys, the signer of the
   * current head, and for each purpose the `limits.publishedEndedKeys` that ended last.
   */
  currentKeys(): Promise<PublicJwk[]>;
  /** Returns every key as a record, oldest first. */
  keyRecords(): Promise<KeyRecord[]>;
  /**
   * Replaces a key immediately. The new key is published as pending, and the entry `key.rotated` names both keys. The
   * old key signs the head that covers this entry; then the new key signs, and `key.retired` is appended. Appends
   * continue. Throws CONFLICT while another key change is in progress, and INVALID_REQUEST for `checkpoint`, whose key
   * is stable.
   */
  rotateKey(purpose: LedgerKeyPurpose, actor: string): Promise<ChangedKey>;
  /** Retires a pending key. Throws NOT_FOUND for an unknown key, and INVALID_TRANSITION in any other state. */
  retireKey(kid: string, actor: string): Promise<ChangedKey>;
  /**
   * Revokes a compromised key, which verifiers refuse from then on, and appends `key.revoked`. A new key replaces an
   * active key. If the key signed the current head, the head is signed again. Returns the revoked key. Throws NOT_FOUND
   * for an unknown key, and INVALID_TRANSITION for a revoked key.
   */
  revokeKey(kid: string, reason: string, actor: string): Promise<ChangedKey>;
  accessTokenKeys(): Promise<AccessTokenKeys>;
  /**
   * Copies a consistent snapshot of ledger.mdb and the keys into an existing folder, and flushes the copy. Appends
   * continue; key changes wait. Throws UNAVAILABLE while the log is not trusted.
   */
  copyTo(folder: string): Promise<LedgerCopy>;
  /**
   * Confirms on behalf of the operator that the host clock is right: ends the fault `clock` and clears its
   * finding.
   */
  confirmClock(): Promise<void>;
  status(): Promise<LedgerStatus>;
  /**
   * Records a report of the log reader's thread. Damage becomes the finding `data_damaged`, which a later pass without
   * damage clears.
   */
  reportReads(report: ReadReport): Promise<void>;
  /** Finishes the current batch, writes the anchor, closes the database. */
  close(): Promise<void>;
}
