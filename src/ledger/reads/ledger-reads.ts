import type { SignedTreeHead } from '../../contract/resources/transparency.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import type { TileAddress } from '../../tlog/tile.ts';
import { toJson } from '../heads.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type {
  ConsistencyProof,
  EntriesPage,
  EntriesQuery,
  HeadsPage,
  HeadsQuery,
  InclusionProof,
  LeafQuery,
  ProofBundle,
  StoredLeaf,
} from '../ledger.ts';
import type { LedgerCounter } from '../methods.ts';
import type { LeafIndex } from '../storage/leaf-index.ts';
import { Nodes } from '../storage/nodes.ts';
import { DamagedError, type LedgerStorage, type SignedHead } from '../storage/storage.ts';
import { type BundleOptions, makeBundle } from './bundle.ts';
import { type CheckpointSigner, Checkpoints } from './checkpoints.ts';
import { listEntries, readLeaves } from './entry-list.ts';
import { listHeads } from './head-list.ts';
import { logEmpty, Prover, UnsoundProofError } from './prover.ts';
import { readEntryBundle, readTile } from './tiles.ts';

export interface LedgerReadsParts {
  readonly storage: LedgerStorage;
  readonly keys: KeyRing;
  /** Undefined when the log couldn't be recovered: leaves are not found by hash then. */
  readonly leaves: LeafIndex | undefined;
  head(): SignedHead | undefined;
  count(counter: LedgerCounter): void;
  /** What was read is not what was written. The result is what the caller is told. */
  onDamage(message: string): ServiceError;
}

/** Everything that is read from a log: heads, proofs, entries, checkpoints and tiles, all as of the current head. */
export class LedgerReads {
  readonly nodes: Nodes;
  readonly #parts: LedgerReadsParts;
  readonly #prover: Prover;
  readonly #checkpoints: Checkpoints;

  constructor(parts: LedgerReadsParts) {
    const { storage, keys, leaves, head, count } = parts;
    this.#parts = parts;
    this.nodes = new Nodes(storage);
    this.#prover = new Prover({
      storage,
      nodes: this.nodes,
      leaves,
      head,
      onVerified: () => count('proofs_verified'),
    });
    this.#checkpoints = new Checkpoints({
      storage,
      nodes: this.nodes,
      head,
      signer: () => checkpointSigner(keys),
    });
  }

  head(treeSize?: number): SignedTreeHead {
    if (treeSize !== undefined && (!Number.isSafeInteger(treeSize) || treeSize < 0))
      throw invalidField('tree_size', 'must be an integer from 0');
    const latest = this.#parts.head();
    if (latest === undefined) throw logEmpty();
    const isLatest = treeSize === undefined || treeSize === latest.size;
    const head = isLatest ? latest : this.guarded(() => this.#parts.storage.headOf(treeSize));
    if (head === undefined) throw new ServiceError('NOT_FOUND', `no head was signed for ${treeSize} leaves`);
    return toJson(head);
  }

  inclusion(leaf: LeafQuery, treeSize?: number): InclusionProof {
    const proof = this.guarded(() => this.#prover.inclusion(leaf, treeSize));
    this.#parts.count('proofs');
    return proof;
  }

  consistency(first: number, second: number): ConsistencyProof {
    const proof = this.guarded(() => this.#prover.consistency(first, second));
    this.#parts.count('proofs');
    return proof;
  }

  leaf(leaf: LeafQuery): StoredLeaf {
    return this.guarded(() => this.#prover.leaf(leaf));
  }

  heads(query: HeadsQuery): HeadsPage {
    const { heads, total } = this.guarded(() => listHeads(this.#parts.storage, this.#size, query));
    return { heads: heads.map(toJson), total };
  }

  entries(query: EntriesQuery): EntriesPage {
    return this.guarded(() => {
      const { indices, total } = listEntries(this.#parts.storage, this.#size, query);
      return { leaves: readLeaves(this.#prover, indices, this.#size), total };
    });
  }

  /** The leaf with everything that an offline verifier needs, against the current head. */
  bundle(leaf: LeafQuery, options: BundleOptions): ProofBundle {
    const head = this.#parts.head();
    if (head === undefined) throw logEmpty();
    const parts = { ...this.#parts, nodes: this.nodes, prover: this.#prover, checkpoints: this.#checkpoints };
    const bundle = this.guarded(() => makeBundle(parts, leaf, head, options));
    this.#parts.count('proofs');
    return bundle;
  }

  checkpoint(): string {
    return this.guarded(() => this.#checkpoints.latest());
  }

  /** Returns after the flush. A write that failed throws what storage threw. */
  keepCheckpoint(note: string): void {
    this.guarded(() => this.#checkpoints.keep(note));
  }

  keptCheckpoint(): string | undefined {
    return this.guarded(() => this.#checkpoints.kept());
  }

  tile(tile: TileAddress): Uint8Array<ArrayBuffer> {
    return this.guarded(() => readTile(this.#parts.storage, this.#size, tile));
  }

  entryBundle(index: number, width: number): Uint8Array<ArrayBuffer> {
    return this.guarded(() => readEntryBundle(this.#parts.storage, this.#size, index, width));
  }

  /** Runs what reads, and reports damage that it meets. */
  guarded<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedError || error instanceof UnsoundProofError)) throw error;
      throw this.#parts.onDamage(error.message);
    }
  }

  get #size(): number {
    return this.#parts.head()?.size ?? 0;
  }
}

function checkpointSigner(keys: KeyRing): CheckpointSigner {
  const key = keys.active('checkpoint');
  const { origin } = keys;
  if (key === undefined || origin === undefined)
    throw new ServiceError('UNAVAILABLE', 'there is no checkpoint key');
  return { origin, publicKey: key.publicKey, sign: (message) => key.sign(message) };
}
