import { hashInPage, type PageAddress, pageHashes, pageWidth, placeOf } from '../tlog/page.ts';
import { type Coordinate, foldRoot, type Hash, hashBytes, rootPlan } from '../tlog/tree.ts';
import { sha256 } from './sha256.ts';
import { DamagedError, type LedgerStorage } from './storage.ts';

/** Pages kept at hand: 1 MB. A proof reads one page for each level, and the upper ones are nearly always the same. */
const cachedPages = 64;

/** Reads stored nodes, page by page. Owner of a small cache of pages. */
export class Nodes {
  readonly #storage: LedgerStorage;
  readonly #cache = new Map<number, Uint8Array>();

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
    const cached = this.#cache.get(name);
    if (cached?.length === bytes) return cached; // otherwise it has grown since
    const page = this.#storage.page(address);
    if (page?.length !== bytes) {
      throw new DamagedError(
        `page ${address.level}/${address.index} has ${page?.length ?? 0} bytes, not ${bytes}`,
      );
    }
    if (this.#cache.size >= cachedPages) this.#dropOldest();
    this.#cache.set(name, page);
    return page;
  }

  #dropOldest(): void {
    for (const oldest of this.#cache.keys()) {
      this.#cache.delete(oldest);
      return;
    }
  }
}
