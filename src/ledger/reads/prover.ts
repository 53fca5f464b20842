import { invalidField, ServiceError } from '../../errors.ts';
import { sha256 } from '../../sha256.ts';
import { bytesToHex, hexToBytes } from '../../tlog/hex.ts';
import {
  consistencyPlan,
  foldProof,
  inclusionPlan,
  verifyConsistency,
  verifyInclusion,
} from '../../tlog/proof.ts';
import { equalHashes, type Hash, hashBytes } from '../../tlog/tree.ts';
import { canonicalUuid } from '../../uuid.ts';
import type { ConsistencyProof, InclusionProof, LeafQuery, StoredLeaf } from '../ledger.ts';
import type { LeafIndex } from '../storage/leaf-index.ts';
import type { Nodes } from '../storage/nodes.ts';
import type { LedgerStorage, SignedHead } from '../storage/storage.ts';
import { checkRange, outOfRange } from './ranges.ts';

/** One proof in so many is verified, besides the first of each kind against each new head. */
const sampling = 64;

export interface ProverParts {
  readonly storage: LedgerStorage;
  readonly nodes: Nodes;
  /** Undefined when the log couldn't be recovered: leaves are not found by hash then. */
  readonly leaves: LeafIndex | undefined;
  head(): SignedHead | undefined;
  /** Called for each proof that was verified before it left. */
  onVerified(): void;
}

/** A proof made from stored nodes doesn't lead to the signed root: the nodes are damaged. */
export class UnsoundProofError extends Error {
  override readonly name = 'UnsoundProofError';
}

/** Reads proofs and leaves for the current log. Owner of what has been verified already. */
export class Prover {
  readonly #parts: ProverParts;
  #made = 0;
  /** Sizes of the heads against which a first proof of each kind has been verified. */
  #verifiedInclusion = 0;
  #verifiedConsistency = 0;

  constructor(parts: ProverParts) {
    this.#parts = parts;
  }

  inclusion(query: LeafQuery, treeSize: number | undefined): InclusionProof {
    const { nodes } = this.#parts;
    const head = this.#parts.head();
    const find = this.#leafFinder(query);
    const current = head?.size ?? 0;
    if (treeSize === undefined && head === undefined) throw logEmpty();
    const size = treeSize ?? current;
    checkRange('tree_size', size, 1, current, current);
    const leafIndex = find(current);
    if (leafIndex >= size) {
      throw query.leaf_index === undefined
        ? outOfRange('tree_size', leafIndex + 1, current, current)
        : outOfRange('leaf_index', 0, size - 1, current);
    }
    const path = foldProof(sha256, inclusionPlan(leafIndex, size), (at) => nodes.hashAt(at, current));
    if (this.#mustVerify(this.#verifiedInclusion !== current)) {
      const leafHash = nodes.hashAt({ level: 0, index: leafIndex }, current);
      this.#sound(() =>
        verifyInclusion(sha256, { leafIndex, treeSize: size, leafHash, path, root: this.#root(size) }),
      );
      if (size === current) this.#verifiedInclusion = current;
    }
    return { tree_size: size, leaf_index: leafIndex, audit_path: path.map(bytesToHex) };
  }

  consistency(first: number, second: number): ConsistencyProof {
    const { nodes } = this.#parts;
    const current = this.#parts.head()?.size ?? 0;
    checkRange('first', first, 1, current, current);
    checkRange('second', second, first + 1, current, current);
    const path = foldProof(sha256, consistencyPlan(first, second), (at) => nodes.hashAt(at, current));
    if (this.#mustVerify(this.#verifiedConsistency !== current)) {
      const [firstRoot, secondRoot] = [this.#root(first), this.#root(second)];
      this.#sound(() =>
        verifyConsistency(sha256, { firstSize: first, secondSize: second, firstRoot, secondRoot, path }),
      );
      if (second === current) this.#verifiedConsistency = current;
    }
    return { tree_size: second, first_size: first, second_size: second, audit_path: path.map(bytesToHex) };
  }

  leaf(query: LeafQuery): StoredLeaf {
    const find = this.#leafFinder(query);
    const size = this.#parts.head()?.size ?? 0;
    const index = find(size);
    if (index >= size) throw new ServiceError('NOT_FOUND', `no leaf ${index}: the log has ${size}`);
    return this.leafAt(index, size);
  }

  /** A leaf that a log of `size` leaves has. */
  leafAt(index: number, size: number): StoredLeaf {
    const canonical = this.#parts.storage.canonical(index);
    if (canonical === undefined) throw new UnsoundProofError(`entry ${index} of ${size} is missing`);
    const hash = this.#parts.nodes.hashAt({ level: 0, index }, size);
    return { leaf_index: index, leaf_hash: bytesToHex(hash), canonical };
  }

  /** Checks the query's form now; the result looks the leaf up in a log of so many leaves. */
  #leafFinder(query: LeafQuery): (size: number) => number {
    const { leaf_index: index, entry_id: id, leaf_hash: hex } = query;
    const given = [index, id, hex].filter((value) => value !== undefined).length;
    if (given !== 1)
      throw invalidField('leaf_index', 'or entry_id or leaf_hash must be given, and only one of them');
    if (index !== undefined) {
      if (!Number.isSafeInteger(index) || index < 0)
        throw invalidField('leaf_index', 'must be an integer from 0');
      return () => index;
    }
    if (id !== undefined) {
      const wanted = canonicalUuid(id);
      if (wanted === undefined) throw invalidField('entry_id', 'must be a valid UUID');
      return () => this.#parts.storage.indexOf(wanted) ?? notFound(`no entry ${wanted}`);
    }
    if (typeof hex !== 'string' || !/^[0-9a-fA-F]{64}$/.test(hex)) {
      throw invalidField('leaf_hash', 'must be 64 hexadecimal digits');
    }
    return (size) => this.#byHash(hexToBytes(hex, hashBytes), size) ?? notFound(`no leaf with hash ${hex}`);
  }

  #byHash(hash: Hash, size: number): number | undefined {
    const { storage, nodes, leaves } = this.#parts;
    for (const index of leaves?.candidates(hash, (like, segments) => storage.leavesLike(like, segments)) ??
      []) {
      // The index in memory may be ahead of the head only inside of a commit, and nothing is read then.
      if (index < size && equalHashes(nodes.hashAt({ level: 0, index }, size), hash)) return index;
    }
    return undefined;
  }

  #root(size: number): Hash {
    const head = this.#parts.head();
    return head?.size === size ? head.root : this.#parts.nodes.rootAt(size, head?.size ?? 0);
  }

  #mustVerify(isFirst: boolean): boolean {
    this.#made += 1;
    return isFirst || this.#made % sampling === 0;
  }

  #sound(verify: () => void): void {
    try {
      verify();
    } catch (error) {
      throw new UnsoundProofError(error instanceof Error ? error.message : String(error));
    }
    this.#parts.onVerified();
  }
}

function notFound(message: string): never {
  throw new ServiceError('NOT_FOUND', message);
}

export function logEmpty(): ServiceError {
  return new ServiceError('LOG_EMPTY', 'the log has no entries yet, and so no tree head');
}
