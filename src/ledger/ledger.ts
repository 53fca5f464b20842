import type { Key } from '../contract/resources/key.ts';
import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import type { LogEntry, SignedTreeHead } from '../contract/resources/transparency.ts';
import type { ledgerFaults, ledgerFindings, regressionEvents } from '../contract/vocabulary.ts';
import type { TileAddress } from '../tlog/tile.ts';

/** What is to be logged, before it has a key and a signature. `id` (UUIDv7) makes an append idempotent. */
export type UnsignedEntry = Omit<LogEntry, 'key_id' | 'signature'>;

/** Where an entry stands. The head of `tree_size` is signed and on disk. */
export interface Appended {
  readonly id: string;
  readonly leaf_index: number;
  readonly tree_size: number;
  /** Lowercase hex, 32 bytes. */
  readonly leaf_hash: string;
}

export interface StoredLeaf {
  readonly leaf_index: number;
  readonly leaf_hash: string;
  /** The exact bytes that were hashed: JCS (RFC 8785) of the whole entry. */
  readonly canonical: Uint8Array;
}

export interface InclusionProof {
  readonly tree_size: number;
  readonly leaf_index: number;
  readonly audit_path: string[];
}

export interface ConsistencyProof {
  readonly tree_size: number;
  readonly first_size: number;
  readonly second_size: number;
  readonly audit_path: string[];
}

/** Which leaf: exactly one of the three is given. */
export interface LeafQuery {
  readonly leaf_index?: number;
  readonly entry_id?: string;
  readonly leaf_hash?: string;
}

export type LedgerHealth =
  | { readonly state: 'ok' }
  /** Appends are refused with UNAVAILABLE; what can be read is served. `advice` tells the operator what to do. */
  | { readonly state: 'degraded'; readonly fault: LedgerFault; readonly advice: string };

/** Reason for which appends are refused. */
export type LedgerFault = (typeof ledgerFaults)[number];

/** A condition that an operator must look at. `since` is ISO 8601. */
export interface LedgerFinding {
  readonly code: LedgerFindingCode;
  readonly message: string;
  readonly since: string;
}
export type LedgerFindingCode = (typeof ledgerFindings)[number];

/** A range of the history of heads, newest last: sizes `from_size` ≤ size < `to_size`. `page` counts from 1. */
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

/** Entries with `from` ≤ leaf index < `to`, of one of these kinds where given, oldest first. */
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

/** Everything that proves offline that one entry is in the log. */
export interface ProofBundle {
  readonly leaf: StoredLeaf;
  readonly audit_path: string[];
  readonly head: SignedTreeHead;
  /** The keys that signed head, entry and checkpoint, and no others. */
  readonly keys: PublicJwk[];
  /** Absent while the log is degraded and the published checkpoint does not cover the leaf. */
  readonly checkpoint?: BundleCheckpoint;
  readonly timestamps: BundleTimestamps;
}

/** The leaf under a checkpoint. */
export interface BundleCheckpoint {
  /** C2SP tlog-proof. */
  readonly tlog_proof: string;
  /** Whether the checkpoint is the published one; otherwise the log signed it for this bundle, and it has no cosignatures. */
  readonly published: boolean;
  /** Hashes in hex from the checkpoint's tree to the head's (RFC 6962 section 2.1.2); empty for one size. */
  readonly consistency: readonly string[];
}

/** RFC 3161 timestamps around a leaf, one of each authority. */
export interface BundleTimestamps {
  /** Entries of kind checkpoint.timestamped before the leaf, with their paths to the root of the head. */
  readonly not_before: readonly { readonly leaf: StoredLeaf; readonly audit_path: readonly string[] }[];
  /** Timestamps over checkpoints whose tree has the leaf, with its path to the root of that checkpoint. */
  readonly not_after: readonly {
    readonly authority: string;
    /** ISO 8601. */
    readonly gen_time: string;
    /** The note that is timestamped. */
    readonly checkpoint: string;
    /** Base64 of the DER form. */
    readonly token: string;
    readonly audit_path: readonly string[];
  }[];
}

/** Of the bytes of a receipt (`receiptBytes`), lowercase hex. */
export interface ReceiptSignature {
  readonly key_id: string;
  readonly signature: string;
}

/** A key as operators see it. `kid` is its id. */
export type KeyRecord = Key;

/** A key that was changed, with the ids of the entries that tell of it. */
export interface ChangedKey extends KeyRecord {
  readonly entry_ids: readonly string[];
}

/** Purposes whose keys the ledger holds. */
export type LedgerKeyPurpose = Exclude<Key['purpose'], 'witness'>;

/** What issues and verifies access tokens. Private parts never leave the process. */
export interface AccessTokenKeys {
  /** The private JWK that signs. */
  readonly current: PublicJwk;
  /** Public JWKs whose tokens are still good: the current one, and retired ones as long as their tokens live. */
  readonly verifying: readonly PublicJwk[];
}

/** A copy of ledger.mdb and the keys, made while appends went on. */
export interface LedgerCopy {
  /** The head that the copy ends with; undefined for an empty log. */
  readonly head: SignedTreeHead | undefined;
  /** Names of the files written, relative to the folder. */
  readonly files: readonly string[];
}

export interface LedgerStatus {
  readonly size: number;
  readonly head: SignedTreeHead | undefined;
  readonly health: LedgerHealth;
  /** Key of the current head's signer and its fingerprint (SHA-256 of the raw public key, hex). */
  readonly sth_key_id: string;
  readonly sth_key_fingerprint: string;
  /** How outsiders verify checkpoints: the key in the form of C2SP signed-note, its name the log's origin. */
  readonly checkpoint_vkey: string;
  /** The life that the log is in: its id and the time of its entry (ISO 8601); absent in the first life. */
  readonly life?: { readonly id: string; readonly at: string };
  /** A life has its keys and not its entry yet, for want of room or of its signer: until then entries are refused. */
  readonly life_pending?: true;
  /** How the log came to its current life: auditors see it as a new log. Absent in the first life. */
  readonly regression?: {
    readonly at: string;
    readonly event: (typeof regressionEvents)[number];
    readonly from_size: number;
    readonly to_size: number;
  };
  /** What start-up noticed and what doesn't keep the log from going on. */
  readonly warnings: readonly string[];
  /** Open findings, oldest first. */
  readonly findings: readonly LedgerFinding[];
  /** Absent until the thread that reads the log has reported. */
  readonly scrub?: ScrubProgress;
}

/** `current`: as of the latest head. `published`: as of the latest head that is published (`ledger.publication_delay_ms`). */
export type LogView = 'current' | 'published';

/** How far the check of the whole tree is. Times are ISO 8601. */
export interface ScrubProgress {
  readonly pass_began_at: string;
  /** Entries of this pass that were checked, and how many there are to check. */
  readonly checked: number;
  readonly total: number;
  /** End of the last pass over all entries; absent before the first. */
  readonly last_pass_at?: string;
  /** Damaged entries, pages and heads that the last pass found. */
  readonly last_pass_damaged?: number;
}

/** What the thread that reads the log reports to the ledger. Times are Unix milliseconds. */
export interface ReadReport {
  /** Found last. `is_edge`: of the latest head or the right edge of the tree, from which appends go on. */
  readonly damage?: { readonly at: number; readonly message: string; readonly is_edge: boolean };
  /** Begin of the last pass over the whole tree that found no damage. */
  readonly clean_pass_began_at?: number;
  readonly scrub: ScrubProgress;
}

/** Checkpoints as notes: the one that the service publishes, and one that the log signed for the bundle. */
export interface CheckpointNotes {
  readonly published?: string | undefined;
  readonly signed?: string | undefined;
}

/**
 * Reads the log in a thread of its own, so that proofs do not slow appends. Everything is verified against a signed
 * head before it is returned.
 *
 * Order: a read sees every append that resolved before the read was called.
 * Failure: INTERNAL where stored data is damaged; otherwise as the methods of `Ledger` with the same names.
 */
export interface LogReader {
  head(view: LogView, treeSize?: number): Promise<SignedTreeHead>;
  inclusion(view: LogView, leaf: LeafQuery, treeSize?: number): Promise<InclusionProof>;
  consistency(view: LogView, first: number, second: number): Promise<ConsistencyProof>;
  leaf(view: LogView, leaf: LeafQuery): Promise<StoredLeaf>;
  heads(view: LogView, query: HeadsQuery): Promise<HeadsPage>;
  entries(view: LogView, query: EntriesQuery): Promise<EntriesPage>;
  /** The leaf with its proofs against the latest head of the view, and against the first note that covers it. */
  bundle(view: LogView, leaf: LeafQuery, notes: CheckpointNotes): Promise<ProofBundle>;
  tile(view: LogView, tile: TileAddress): Promise<Uint8Array<ArrayBuffer>>;
  entryBundle(view: LogView, index: number, width: number): Promise<Uint8Array<ArrayBuffer>>;
  report(): Promise<ReadReport>;
  close(): Promise<void>;
}

/** One RFC 7517 key with the `svc_*` attributes of the specification. */
export type PublicJwk = Readonly<Record<string, string | number>>;

/**
 * The transparency log, as the rest of the service sees it. It lives in its own thread.
 *
 * Order: entries of one call get consecutive indices in the order given; calls are served in order of arrival.
 * Durability: `append` resolves only after entries, nodes and a signed head that covers them are flushed to disk.
 * Idempotence: an `id` that is in the log already gets its first index back and adds nothing.
 * Failure: UNAVAILABLE while degraded; WORKER_LOST if the thread dies, after which the outcome is unknown and the
 * same entries may be appended again.
 */
export interface Ledger {
  append(entries: readonly UnsignedEntry[]): Promise<Appended[]>;
  /** Signs a receipt with the event key, beside the ledger's thread. UNAVAILABLE while degraded. */
  signReceipt(receipt: ReceiptStatement): Promise<ReceiptSignature>;
  /** The latest head, or the head signed for `treeSize`. LOG_EMPTY before the first entry, NOT_FOUND for a size never signed. */
  head(treeSize?: number): Promise<SignedTreeHead>;
  /** INVALID_REQUEST unless leaf_index < tree_size ≤ size; NOT_FOUND for an unknown id or hash. */
  inclusion(leaf: LeafQuery, treeSize?: number): Promise<InclusionProof>;
  /** INVALID_REQUEST unless 0 < first < second ≤ size. */
  consistency(first: number, second: number): Promise<ConsistencyProof>;
  leaf(leaf: LeafQuery): Promise<StoredLeaf>;
  /** The history of heads. INVALID_REQUEST for sizes out of order. */
  heads(query: HeadsQuery): Promise<HeadsPage>;
  /** Leaves by range and kind, `total` exact. INVALID_REQUEST for indices out of order. */
  entries(query: EntriesQuery): Promise<EntriesPage>;
  /**
   * The leaf with its proofs against the latest head of the view, `current` by default, and against a checkpoint:
   * `published`, the note that the service publishes, where it covers the leaf. Errors as `inclusion`.
   */
  bundle(leaf: LeafQuery, published?: string, view?: LogView): Promise<ProofBundle>;
  /**
   * The latest head of the view, `published` by default, as a checkpoint (C2SP tlog-checkpoint): a note signed by the
   * key with purpose `checkpoint` under the configured origin. LOG_EMPTY before the first entry.
   */
  checkpoint(view?: LogView): Promise<string>;
  /** Keeps a checkpoint with its cosignatures, flushed. One of a smaller tree than what is kept changes nothing. */
  keepCheckpoint(note: string): Promise<void>;
  /** What was kept last; undefined before. */
  keptCheckpoint(): Promise<string | undefined>;
  /** The hashes of a tile (C2SP tlog-tiles), 32 · width bytes. NOT_FOUND where the tree is not that large yet. */
  tile(tile: TileAddress): Promise<Uint8Array<ArrayBuffer>>;
  /** The entries of bundle `index` (C2SP tlog-tiles), each behind its u16be length. NOT_FOUND as `tile`. */
  entryBundle(index: number, width: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Every public key ever used, of every purpose, oldest first. */
  keys(): Promise<PublicJwk[]>;
  /**
   * The keys that readers of current answers need, oldest first: active, pending, the signer of the current head, and
   * of each purpose the `limits.publishedEndedKeys` that ended last.
   */
  currentKeys(): Promise<PublicJwk[]>;
  /** Every key as a record, oldest first. */
  keyRecords(): Promise<KeyRecord[]>;
  /**
   * A new key takes over at once: it is published as pending, `key.rotated` names both under the old key, the old one
   * signs the head that covers it, then the new one signs and `key.retired` tells so. Appends go on meanwhile.
   * CONFLICT while another change of keys is under way; INVALID_REQUEST for `checkpoint`, whose key is stable.
   */
  rotateKey(purpose: LedgerKeyPurpose, actor: string): Promise<ChangedKey>;
  /** Gives up a pending key. NOT_FOUND; INVALID_TRANSITION in any other state. */
  retireKey(kid: string, actor: string): Promise<ChangedKey>;
  /**
   * A compromised key: verifiers refuse it from now on, a new one takes its place, the current head is signed anew at
   * once, and `key.revoked` is appended. Returns the revoked key. NOT_FOUND; INVALID_TRANSITION when revoked already.
   */
  revokeKey(kid: string, reason: string, actor: string): Promise<ChangedKey>;
  accessTokenKeys(): Promise<AccessTokenKeys>;
  /**
   * Copies ledger.mdb as of one moment, and the keys as of the same, into an existing folder; flushed. Appends go on;
   * changes of keys wait. UNAVAILABLE while degraded.
   */
  copyTo(folder: string): Promise<LedgerCopy>;
  /** The operator says that the clock of the host is right: a fault `clock` ends, and its finding is cleared. */
  confirmClock(): Promise<void>;
  status(): Promise<LedgerStatus>;
  /** Takes what the thread that reads the log found: damage becomes the finding `data_damaged`. */
  reportReads(report: ReadReport): Promise<void>;
  /** Finishes the batch in work, writes the anchor, closes the database. */
  close(): Promise<void>;
}
