import type { Ed25519Verifier } from '../tlog/note.ts';
import { type Coordinate, type Hash, leafHash } from '../tlog/tree.ts';
import { CompactRange } from './compact-range.ts';
import { verifyEd25519 } from './ed25519.ts';
import { AuditFault } from './fault.ts';
import type { KeySet } from './key-set.ts';
import { sha256 } from './sha256.ts';
import { type VerifiedEntry, verifyEntry } from './verify.ts';

/**
 * Minimum number of recent ids kept to detect duplicates, about 100 bytes each; at most twice as many are kept. This
 * bounds memory for logs of any length; duplicates further apart are not found.
 */
const defaultRecentIds = 2 ** 18;

/** The state for continuing a tree: its size and the hashes on its right edge. */
export interface TreeEdge {
  readonly size: number;
  readonly edge: readonly Hash[];
}

/** A fault: two entries have the same id. */
export class DuplicateEntry extends AuditFault {
  readonly indices: readonly [number, number];

  constructor(indices: readonly [number, number]) {
    super('DUPLICATE_ENTRY', `entries ${indices[0]} and ${indices[1]} have the same id`);
    this.indices = indices;
  }
}

export const emptyTree: TreeEdge = { size: 0, edge: [] };

/**
 * Checks the entries of a log in order. Each must be in canonical form, signed by a key that was in use at its index,
 * and have a unique id. Computes the tree that the entries form.
 */
export class LeafAudit {
  #keys: KeySet;
  readonly #verify: Ed25519Verifier;
  readonly #minRecentIds: number;
  readonly #range: CompactRange;
  /** Indices by id. */
  #ids = new Map<string, number>();
  #olderIds = new Map<string, number>();
  #byRevokedKeys = 0;

  /** @param verify - replaces the default signature verification, under the same policy (see ed25519.ts) */
  constructor(keys: KeySet, start: TreeEdge, verify: Ed25519Verifier = verifyEd25519, minRecentIds = defaultRecentIds) {
    this.#verify = verify;
    this.#minRecentIds = minRecentIds;
    this.#keys = keys;
    this.#range = new CompactRange(sha256, start.size, start.edge);
  }

  /** Number of entries, including entries before the start. */
  get size(): number {
    return this.#range.size;
  }

  /**
   * Number of entries signed by a key that was revoked later. These entries are valid, because they were logged before
   * the revocation.
   */
  get byRevokedKeys(): number {
    return this.#byRevokedKeys;
  }

  get tree(): TreeEdge {
    return { size: this.#range.size, edge: [...this.#range.edge] };
  }

  /** Sets a larger key set; an entry that failed with UNKNOWN_KEY may then be added again. */
  useKeys(keys: KeySet): void {
    this.#keys = keys;
  }

  root(): Hash {
    return this.#range.root();
  }

  /** Checks and appends the next entry. After a fault other than UNKNOWN_KEY, no entry may be added. */
  add(canonical: Uint8Array, onNode?: (at: Coordinate, hash: Hash) => void): VerifiedEntry['entry'] | AuditFault {
    const leafIndex = this.#range.size;
    const verified = verifyEntry({ leafIndex, canonical }, this.#keys, this.#verify);
    if (verified instanceof AuditFault) return new AuditFault(verified.code, `entry ${leafIndex}: ${verified.message}`);
    const { entry, key } = verified;
    const earlier = this.#addId(entry.id, leafIndex);
    if (earlier !== undefined) return new DuplicateEntry([earlier, leafIndex]);
    if (key.state === 'revoked') this.#byRevokedKeys += 1;
    this.#range.append(leafHash(sha256, canonical), onNode);
    return entry;
  }

  /** Returns the index of an earlier entry with the same id; otherwise records the id and returns undefined. */
  #addId(id: string, index: number): number | undefined {
    const earlier = this.#ids.get(id) ?? this.#olderIds.get(id);
    if (earlier !== undefined) return earlier;
    if (this.#ids.size >= this.#minRecentIds) {
      this.#olderIds = this.#ids;
      this.#ids = new Map();
    }
    this.#ids.set(id, index);
    return undefined;
  }
}
