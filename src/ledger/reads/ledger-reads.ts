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
import { DamagedError, EdgeDamagedError, type LedgerStorage, type SignedHead } from '../storage/storage.ts';
import { type BundleNotes, makeBundle } from './bundle.ts';
import { type CheckpointSigner, Checkpoints } from './checkpoints.ts';
import { listEntries, readLeaves } from './entry-list.ts';
import { type HeadView, listHeads } from './head-view.ts';
import { logEmpty, Prover } from './prover.ts';
import { readEntryBundle, readTile } from './tiles.ts';
import type { VerifiedHeads } from './verified-heads.ts';
import type { VerifiedNodes } from './verified-nodes.ts';

export interface LedgerReadsParts {
  readonly storage: LedgerStorage;
  readonly nodes: VerifiedNodes;
  readonly keys: () => KeyRing;
  /**
   * Returns the index of leaf hashes; undefined if the log could not be recovered, and leaves are then not found by
   * hash.
   */
  readonly leaves: () => LeafIndex | undefined;
  /** The heads visible to the reader. */
  readonly heads: HeadView;
  readonly verified: VerifiedHeads;
  count(counter: LedgerCounter): void;
  /** Reports damaged data, with `isEdge` if appends need the data. The returned error is thrown to the caller. */
  onDamage(message: string, isEdge: boolean): ServiceError;
}

/** All reads of a log: heads, proofs, entries, checkpoints and tiles, as of the latest visible head. */
export class LedgerReads {
  readonly #parts: LedgerReadsParts;
  readonly #prover: Prover;
  readonly #checkpoints: Checkpoints;

  constructor(parts: LedgerReadsParts) {
    const { storage, nodes, keys, leaves, heads } = parts;
    this.#parts = parts;
    const head = () => heads.latest();
    this.#prover = new Prover({ storage, nodes, leaves, head });
    this.#checkpoints = new Checkpoints({
      storage,
      nodes,
      head,
      signer: () => checkpointSigner(keys()),
      origin: () => keys().origin ?? noCheckpointKey(),
    });
  }

  head(treeSize?: number): SignedTreeHead {
    if (treeSize !== undefined && (!Number.isSafeInteger(treeSize) || treeSize < 0))
      throw invalidField('tree_size', 'must be an integer from 0 to 2^53 − 1');
    return this.guarded(() => {
      const { heads, verified } = this.#parts;
      const latest = heads.latest();
      if (latest === undefined) throw logEmpty();
      const isLatest = treeSize === undefined || treeSize === latest.size;
      const head = isLatest ? latest : heads.headOf(treeSize);
      if (head === undefined) throw new ServiceError('NOT_FOUND', `no head was signed for ${treeSize} leaves`);
      return toJson(verified.checked(head));
    });
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
    return this.guarded(() => {
      const { heads, verified } = this.#parts;
      const { heads: listed, total } = listHeads(heads, this.#size, query);
      return { heads: listed.map((head) => toJson(verified.checked(head))), total };
    });
  }

  entries(query: EntriesQuery): EntriesPage {
    return this.guarded(() => {
      const { indices, total } = listEntries(this.#parts.storage, this.#size, query);
      return { leaves: readLeaves(this.#prover, indices, query.kinds), total };
    });
  }

  /** Returns the leaf with everything that an offline verifier needs, as of the latest visible head. */
  bundle(leaf: LeafQuery, notes: BundleNotes): ProofBundle {
    const { storage, nodes, keys, heads, verified } = this.#parts;
    const parts = { storage, nodes, keys: keys(), prover: this.#prover, checkpoints: this.#checkpoints };
    const bundle = this.guarded(() => {
      const head = heads.latest();
      if (head === undefined) throw logEmpty();
      return makeBundle(parts, leaf, verified.checked(head), notes);
    });
    this.#parts.count('proofs');
    return bundle;
  }

  checkpoint(): string {
    return this.guarded(() => this.#checkpoints.latest());
  }

  /** Stores a checkpoint. Returns after the flush, and throws the error of a failed write. */
  keepCheckpoint(note: string): void {
    this.guarded(() => this.#checkpoints.keep(note));
  }

  keptCheckpoint(): string | undefined {
    return this.guarded(() => this.#checkpoints.kept());
  }

  tile(tile: TileAddress): Uint8Array<ArrayBuffer> {
    return this.guarded(() => readTile(this.#parts.nodes, this.#size, tile));
  }

  entryBundle(index: number, width: number): Uint8Array<ArrayBuffer> {
    const { storage, nodes } = this.#parts;
    return this.guarded(() => readEntryBundle(storage, nodes, this.#size, index, width));
  }

  /** Runs a read and reports damage that it finds. */
  guarded<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      throw this.#parts.onDamage(error.message, error instanceof EdgeDamagedError);
    }
  }

  /** The latest visible head; undefined if no head is visible. */
  get latest(): SignedHead | undefined {
    return this.guarded(() => this.#parts.heads.latest());
  }

  get #size(): number {
    return this.#parts.heads.latest()?.size ?? 0;
  }
}

function checkpointSigner(keys: KeyRing): CheckpointSigner {
  const key = keys.active('checkpoint');
  const { origin } = keys;
  if (key === undefined || origin === undefined) return noCheckpointKey();
  return { origin, publicKey: key.publicKey, sign: (message) => key.sign(message) };
}

function noCheckpointKey(): never {
  throw new ServiceError('UNAVAILABLE', 'there is no checkpoint key');
}
