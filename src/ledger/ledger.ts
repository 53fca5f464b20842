import type { LogEntry, SignedTreeHead } from '../contract/resources/transparency.ts';

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
  | { readonly state: 'degraded'; readonly fault: 'rollback' | 'corrupt' | 'lost'; readonly advice: string };

export interface LedgerStatus {
  readonly size: number;
  readonly head: SignedTreeHead | undefined;
  readonly health: LedgerHealth;
  /** Key of the current head's signer and its fingerprint (SHA-256 of the raw public key, hex). */
  readonly sth_key_id: string;
  readonly sth_key_fingerprint: string;
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
  /** The latest head, or the head signed for `treeSize`. LOG_EMPTY before the first entry, NOT_FOUND for a size never signed. */
  head(treeSize?: number): Promise<SignedTreeHead>;
  /** INVALID_REQUEST unless leaf_index < tree_size ≤ size; NOT_FOUND for an unknown id or hash. */
  inclusion(leaf: LeafQuery, treeSize?: number): Promise<InclusionProof>;
  /** INVALID_REQUEST unless 0 < first < second ≤ size. */
  consistency(first: number, second: number): Promise<ConsistencyProof>;
  leaf(leaf: LeafQuery): Promise<StoredLeaf>;
  /** The key set: every public key ever used, of every purpose. */
  keys(): Promise<PublicJwk[]>;
  /** The private JWK that signs access tokens, for the thread that issues them. Never leaves the process. */
  accessTokenKey(): Promise<PublicJwk>;
  status(): Promise<LedgerStatus>;
  /** Finishes the batch in work, writes the anchor, closes the database. */
  close(): Promise<void>;
}
