import type { Ed25519Verifier } from '../tlog/note.ts';
import { type Coordinate, type Hash, leafHash } from '../tlog/tree.ts';
import { CompactRange } from './compact-range.ts';
import { verifyEd25519 } from './ed25519.ts';
import { Fault } from './fault.ts';
import type { KeySet } from './key-set.ts';
import { sha256 } from './sha256.ts';
import { type VerifiedEntry, verifyEntry } from './verify.ts';

/**
 * Ids that are remembered at least, to find one that comes twice: some 100 bytes each. A log of any length is checked
 * in bounded memory; what lies further apart than this isn't compared.
 */
const rememberedIds = 2 ** 18;

/** Where a tree is to be continued: its size, and the hashes on its right edge. */
export interface TreeEdge {
  readonly size: number;
  readonly edge: readonly Hash[];
}

/** Two entries have one id. */
export class DuplicateEntry extends Fault {
  readonly indices: readonly [number, number];

  constructor(indices: readonly [number, number], message: string) {
    super('DUPLICATE_ENTRY', message);
    this.indices = indices;
  }
}

export const emptyTree: TreeEdge = { size: 0, edge: [] };

/**
 * Takes the entries of a log one after the other, in order: each must be in canonical form, signed by a key that was
 * in use at its index, and have an id of its own; and together they grow the tree whose root can be asked for.
 */
export class LeafAudit {
  #keys: KeySet;
  readonly #verify: Ed25519Verifier;
  readonly #remembered: number;
  readonly #range: CompactRange;
  /** Indices by id. */
  #ids = new Map<string, number>();
  #olderIds = new Map<string, number>();
  #byRevokedKeys = 0;

  /** `verify` stands in for the verification of signatures, under the same policy (see ed25519.ts). */
  constructor(
    keys: KeySet,
    start: TreeEdge,
    verify: Ed25519Verifier = verifyEd25519,
    remembered = rememberedIds,
  ) {
    this.#verify = verify;
    this.#remembered = remembered;
    this.#keys = keys;
    this.#range = new CompactRange(sha256, start.size, start.edge);
  }

  /** Entries so far, with those before the start. */
  get size(): number {
    return this.#range.size;
  }

  /** Entries that a key signed which was revoked later: good, because they were logged before. */
  get byRevokedKeys(): number {
    return this.#byRevokedKeys;
  }

  get tree(): TreeEdge {
    return { size: this.#range.size, edge: [...this.#range.edge] };
  }

  /** More keys are known: an entry that was refused with UNKNOWN_KEY may be added again. */
  useKeys(keys: KeySet): void {
    this.#keys = keys;
  }

  root(): Hash {
    return this.#range.root();
  }

  /** The next entry. After a fault other than UNKNOWN_KEY nothing more may be added. */
  add(canonical: Uint8Array, onNode?: (at: Coordinate, hash: Hash) => void): VerifiedEntry['entry'] | Fault {
    const leafIndex = this.#range.size;
    const verified = verifyEntry({ leafIndex, canonical }, this.#keys, this.#verify);
    if (verified instanceof Fault) return new Fault(verified.code, `entry ${leafIndex}: ${verified.message}`);
    const { entry, key } = verified;
    const earlier = this.#remember(entry.id, leafIndex);
    if (earlier !== undefined)
      return new DuplicateEntry(
        [earlier, leafIndex],
        `entry ${leafIndex} has the id ${entry.id} of entry ${earlier}`,
      );
    if (key.state === 'revoked') this.#byRevokedKeys += 1;
    this.#range.append(leafHash(sha256, canonical), onNode);
    return entry;
  }

  /** The index of an earlier entry with this id. */
  #remember(id: string, index: number): number | undefined {
    const earlier = this.#ids.get(id) ?? this.#olderIds.get(id);
    if (earlier !== undefined) return earlier;
    if (this.#ids.size >= this.#remembered) {
      this.#olderIds = this.#ids;
      this.#ids = new Map();
    }
    this.#ids.set(id, index);
    return undefined;
  }
}
