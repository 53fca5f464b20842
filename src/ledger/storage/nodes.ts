import { sha256 } from '../../sha256.ts';
import {
  hashInPage,
  type PageAddress,
  pageColumns,
  pageHashes,
  pageWidth,
  placeOf,
} from '../../tlog/page.ts';
import { type Coordinate, foldRoot, type Hash, hashBytes, rootPlan } from '../../tlog/tree.ts';
import { DamagedError, type LedgerStorage } from './storage.ts';

/**
 * Pages kept at hand: 4 MB, the upper levels of 16 million leaves. A proof reads one page for each level, and those
 * are the same for many; of level 0 only the one on the right edge is.
 */
const cachedPages = 256;
const fullPageBytes = pageHashes(pageColumns) * hashBytes;

/** Reads stored nodes, page by page. Owner of a small cache of pages. */
export class Nodes {
  readonly #storage: LedgerStorage;
  readonly #cache = new Map<number, Uint8Array>();
  /** The page read last that isn't cached: a proof takes up to eight hashes from it. 16 kB anew for each cost a tenth
   * of the thread. */
  readonly #last = new Uint8Array(fullPageBytes);
  #lastName = -1;

  constructor(storage: LedgerStorage) {
    this.#storage = storage;
  }

  /** The hash of a complete node of a log that has `size` leaves now. @throws DamagedError */
  hashAt(at: Coordinate, size: number): Hash {
    const place = placeOf(at);
    const width = pageWidth(place, size);
    return hashInPage(this.#page(place, width), width, place.row, place.column);
  }

  /** Root of the tree of the first `treeSize` of `size` leaves. */
  rootAt(treeSize: number, size: number): Hash {
    const hashes = rootPlan(treeSize).map((at) => this.hashAt(at, size));
    return foldRoot(sha256, treeSize, hashes);
  }

  #page(address: PageAddress, width: number): Uint8Array {
    const bytes = pageHashes(width) * hashBytes;
    const name = address.index * 8 + address.level; // levels of pages are below 7
    if (name === this.#lastName) return this.#last;
    const cached = this.#cache.get(name);
    if (cached?.length === bytes) return cached; // otherwise it has grown since
    const full = width === pageColumns;
    if (full) this.#lastName = -1;
    const page = full ? this.#last : new Uint8Array(bytes);
    const read = this.#storage.readPage(address, page);
    if (read !== bytes)
      throw new DamagedError(`page ${address.level}/${address.index} has ${read} bytes, not ${bytes}`);
    if (full && address.level === 0) {
      this.#cache.delete(name); // as it was before it was full
      this.#lastName = name;
      return page;
    }
    if (this.#cache.size >= cachedPages) this.#dropOldest();
    const kept = full ? page.slice() : page;
    this.#cache.set(name, kept);
    return kept;
  }

  #dropOldest(): void {
    for (const oldest of this.#cache.keys()) {
      this.#cache.delete(oldest);
      return;
    }
  }
}
