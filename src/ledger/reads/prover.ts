import { sha256 } from '../../crypto/sha256.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { bytesToHex, hexToBytes } from '../../tlog/hex.ts';
import { consistencyPlan, foldProof, inclusionPlan } from '../../tlog/proof.ts';
import { equalHashes, type Hash, hashBytes, leafHash } from '../../tlog/tree.ts';
import { canonicalUuid } from '../../uuid.ts';
import type { ConsistencyProof, InclusionProof, LeafQuery, StoredLeaf } from '../ledger.ts';
import type { LeafIndex } from '../storage/leaf-index.ts';
import { DamagedError, type LedgerStorage, type SignedHead } from '../storage/storage.ts';
import { checkRange, outOfRange } from './ranges.ts';
import type { VerifiedNodes } from './verified-nodes.ts';

export interface ProverParts {
  readonly storage: LedgerStorage;
  readonly nodes: VerifiedNodes;
  /**
   * Returns the index of leaf hashes; undefined if the log could not be recovered, and leaves are then not found by
   * hash.
   */
  readonly leaves: () => LeafIndex | undefined;
  /** Returns the latest head visible to the reader; undefined if no head is visible. The tree may be larger. */
  head(): SignedHead | undefined;
}

/**
 * Reads proofs and leaves as of the latest head visible to the reader. Proofs consist of verified nodes only,
 * and the bytes of an entry are hashed before they are returned.
 */
export class Prover {
  readonly #parts: ProverParts;

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
    const path = foldProof(sha256, inclusionPlan(leafIndex, size), (at) => nodes.hashAt(at));
    return { tree_size: size, leaf_index: leafIndex, audit_path: path.map(bytesToHex) };
  }

  consistency(first: number, second: number): ConsistencyProof {
    const { nodes } = this.#parts;
    const current = this.#parts.head()?.size ?? 0;
    checkRange('first', first, 1, current, current);
    checkRange('second', second, first + 1, current, current);
    const path = foldProof(sha256, consistencyPlan(first, second), (at) => nodes.hashAt(at));
    return { tree_size: second, first_size: first, second_size: second, audit_path: path.map(bytesToHex) };
  }

  leaf(query: LeafQuery): StoredLeaf {
    const find = this.#leafFinder(query);
    const size = this.#parts.head()?.size ?? 0;
    const index = find(size);
    if (index >= size) throw new ServiceError('NOT_FOUND', `there is no leaf ${index}: the log has ${size} leaves`);
    return this.leafAt(index);
  }

  /**
   * Returns an existing leaf. If `kinds` is given, also checks that the entry is of one of these kinds, because the
   * index of kinds is not part of the tree and may be wrong.
   *
   * @throws DamagedError unless the entry matches its leaf hash and is of one of `kinds`
   */
  leafAt(index: number, kinds?: readonly string[]): StoredLeaf {
    const { storage, nodes } = this.#parts;
    const canonical = verifiedEntry(storage, nodes, index);
    if (kinds !== undefined && !kinds.includes(indexedOf(canonical).kind ?? ''))
      throw new DamagedError(`the index of kinds names entry ${index} under the wrong kind`);
    return { leaf_index: index, leaf_hash: bytesToHex(nodes.hashAt({ level: 0, index })), canonical };
  }

  /** Validates the query's form. Returns a function that looks the leaf up in a log of `size` leaves. */
  #leafFinder(query: LeafQuery): (size: number) => number {
    const { leaf_index: index, entry_id: id, leaf_hash: hex } = query;
    const given = [index, id, hex].filter((value) => value !== undefined).length;
    if (given !== 1)
      throw invalidField('leaf_index', 'is required unless entry_id or leaf_hash is given; only one is allowed');
    if (index !== undefined) {
      if (!Number.isSafeInteger(index) || index < 0)
        throw invalidField('leaf_index', 'must be an integer from 0 to 2^53 − 1');
      return () => index;
    }
    if (id !== undefined) {
      const wanted = canonicalUuid(id);
      if (wanted === undefined) throw invalidField('entry_id', 'must be a valid UUID');
      return (size) => this.#byId(wanted, size) ?? notFound(`there is no entry ${wanted}`);
    }
    if (typeof hex !== 'string' || !/^[0-9a-fA-F]{64}$/.test(hex)) {
      throw invalidField('leaf_hash', 'must be 64 hexadecimal digits');
    }
    return (size) => this.#byHash(hexToBytes(hex, hashBytes), size) ?? notFound(`there is no leaf with hash ${hex}`);
  }

  /**
   * Looks up an entry by id. The index of ids is not part of the tree, so the entry itself must have the id. Returns
   * undefined for an unknown id.
   */
  #byId(id: string, size: number): number | undefined {
    const index = this.#parts.storage.indexOf(id);
    if (index === undefined || index >= size) return undefined;
    if (indexedOf(this.leafAt(index).canonical).id !== id)
      throw new DamagedError(`the index of ids maps ${id} to entry ${index}, which has another id`);
    return index;
  }

  #byHash(hash: Hash, size: number): number | undefined {
    const { storage, nodes, leaves } = this.#parts;
    const candidates = leaves()?.candidates(hash, (like, segments) => storage.leavesLike(like, segments)) ?? [];
    for (const index of candidates)
      if (index < size && equalHashes(nodes.hashAt({ level: 0, index }), hash)) return index;
    return undefined;
  }
}

/** Returns the bytes of an existing entry. @throws DamagedError unless they match the leaf hash */
export function verifiedEntry(storage: LedgerStorage, nodes: VerifiedNodes, index: number): Uint8Array<ArrayBuffer> {
  const canonical = storage.canonical(index);
  if (canonical === undefined) throw new DamagedError(`entry ${index} is missing`);
  if (!nodes.hasHash({ level: 0, index }, leafHash(sha256, canonical)))
    throw new DamagedError(`entry ${index} does not match its leaf hash`);
  return canonical;
}

const utf8 = new TextDecoder();

/**
 * Returns the members by which an entry is indexed: the id in lower case, and the kind. Empty if the bytes
 * are not a valid entry.
 */
export function indexedOf(canonical: Uint8Array): { id?: string | undefined; kind?: string | undefined } {
  try {
    const { id, kind } = JSON.parse(utf8.decode(canonical)) as { id?: unknown; kind?: unknown };
    return {
      id: typeof id === 'string' ? canonicalUuid(id) : undefined,
      kind: typeof kind === 'string' ? kind : undefined,
    };
  } catch {
    return {};
  }
}

function notFound(message: string): never {
  throw new ServiceError('NOT_FOUND', message);
}

export function logEmpty(): ServiceError {
  return new ServiceError('LOG_EMPTY', 'the log has no entries yet, therefore no tree head');
}
