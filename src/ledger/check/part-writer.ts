import { sha256 } from '../../crypto/sha256.ts';
import { GrowingTree } from '../../tlog/growing-tree.ts';
import { leafHash } from '../../tlog/tree.ts';
import { LeafIndex } from '../storage/leaf-index.ts';
import type { LmdbStorage, RebuiltPart } from '../storage/lmdb-store.ts';
import type { SignedHead } from '../storage/storage.ts';
import { EntryReader } from './canonical-entry.ts';
import type { KeptHeads } from './judged-heads.ts';

/** Maximum entries, or heads, per transaction. */
export const partEntries = 16_384;

/** Writes entries and all derived data in parts. */
export class PartWriter {
  readonly #storage: LmdbStorage;
  readonly #tree = GrowingTree.load(sha256, 0, () => undefined)!;
  readonly #leaves = new LeafIndex();
  readonly #reader = new EntryReader();
  readonly #root = () => this.#tree.root();
  #entries: { id: string; canonical: Uint8Array }[] = [];
  #heads: SignedHead[] = [];
  #buckets: RebuiltPart['buckets'][number][] = [];

  constructor(storage: LmdbStorage) {
    this.#storage = storage;
  }

  get size(): number {
    return this.#tree.size;
  }

  add(bytes: Buffer): void {
    const canonical = new Uint8Array(bytes);
    if (!this.#reader.read(bytes))
      throw new Error(`entry ${this.size} is covered by a signed head but is not a valid entry`);
    const hash = leafHash(sha256, canonical);
    this.#entries.push({ id: this.#reader.id, canonical });
    this.#tree.append(hash);
    this.#buckets.push(...this.#leaves.add(hash));
    if (this.#entries.length === partEntries) this.end();
  }

  /** Adds the heads whose size is the current number of leaves. */
  addHeads(kept: KeptHeads): void {
    for (const head of kept(this.size, this.#root)) {
      this.#heads.push(head);
      if (this.#heads.length < partEntries) continue;
      this.#storage.load({ first: this.size, entries: [], pages: [], buckets: [], heads: this.#heads });
      this.#heads = [];
    }
  }

  /** Writes the remaining entries and heads. */
  end(): void {
    const [entries, heads, buckets] = [this.#entries, this.#heads, this.#buckets];
    const pages = entries.length === 0 ? [] : this.#tree.takePages();
    this.#storage.load({ first: this.size - entries.length, entries, pages, buckets, heads });
    this.#entries = [];
    this.#heads = [];
    this.#buckets = [];
  }
}
