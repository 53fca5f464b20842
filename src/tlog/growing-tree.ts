/**
 * The right edge of a growing tree, held in memory: for each level of pages the one page that is not full. At
 * most seven pages of 16 kB, whatever the size of the tree.
 */
import { panic } from './fault.ts';
import { hashInPage, type PageAddress, pageColumns, pageHashes, pageRows, pageWidth, placeOf } from './page.ts';
import { checkSize, equalHashes, foldRoot, type Hash, type Hasher, hashBytes, nodeHash, rootPlan } from './tree.ts';

/** A page in its stored form: see page.ts for the layout of its bytes. */
export interface PackedPage extends PageAddress {
  readonly bytes: Uint8Array;
}

/** Owns the edge. After `append`, `takePages` returns the pages to store for the new size. */
export class GrowingTree {
  readonly #sha256: Hasher;
  /** Rows of the growing page, by page level. */
  readonly #edge: Hash[][][] = [];
  /** Pages that became full since the last `takePages`. */
  #full: PackedPage[] = [];
  /** Number of page levels that grew since the last `takePages`. */
  #grown = 0;
  #size = 0;

  private constructor(sha256: Hasher) {
    this.#sha256 = sha256;
  }

  /**
   * Loads the tree of `size` leaves. `load` returns a stored page's bytes. All nodes of the growing pages above row 0
   * are hashed again; row 0 is used as stored. Returns undefined if a page is missing, has a wrong length, or has
   * inconsistent hashes.
   */
  static load(
    sha256: Hasher,
    size: number,
    load: (page: PageAddress) => Uint8Array | undefined,
  ): GrowingTree | undefined {
    checkSize(size);
    const tree = new GrowingTree(sha256);
    tree.#size = size;
    for (const page of edgePages(size)) {
      const width = pageWidth(page, size);
      const bytes = width === 0 ? new Uint8Array(0) : load(page);
      if (bytes === undefined || bytes.length !== pageHashes(width) * hashBytes) return undefined;
      const rows = unpack(bytes, width);
      if (!rowsHash(sha256, rows)) return undefined;
      tree.#edge[page.level] = rows;
    }
    return tree;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a leaf and every node that it completes. */
  append(leaf: Hash): void {
    const index = this.#size;
    this.#size = index + 1;
    checkSize(this.#size);
    let hash = leaf;
    for (let level = 0; ; level++) {
      this.#put(level, hash);
      const nth = Math.floor(index / 2 ** level);
      if (nth % 2 === 0) return;
      hash = nodeHash(this.#sha256, this.#left(level), hash);
      // After the last row the page is full: its root is added to the page above.
      if (level % pageRows === pageRows - 1) this.#turnPage(level);
    }
  }

  root(): Hash {
    return foldRoot(this.#sha256, this.#size, this.edge());
  }

  /** Returns the hashes of `rootPlan(size)`, in that order. */
  edge(): Hash[] {
    return rootPlan(this.#size).map((at) => {
      const { level, row, column } = placeOf(at);
      return this.#edge[level]?.[row]?.[column] ?? panic(`edge of ${this.#size} leaves lacks ${at.level},${at.index}`);
    });
  }

  /** Returns the pages that changed since the last call: full pages, and the growing pages in their current state. */
  takePages(): PackedPage[] {
    const pages = this.#full;
    for (let level = 0; level < this.#grown; level++) {
      const rows = this.#edge[level]!;
      if (rows[0]!.length === 0) continue;
      pages.push({ level, index: this.#pageIndex(level), bytes: pack(rows) });
    }
    this.#full = [];
    this.#grown = 0;
    return pages;
  }

  #put(level: number, hash: Hash): void {
    const page = Math.floor(level / pageRows);
    this.#grown = Math.max(this.#grown, page + 1);
    this.#edge[page] ??= emptyRows();
    this.#edge[page][level % pageRows]!.push(hash);
  }

  /** Returns the left sibling of the node added last on this level. */
  #left(level: number): Hash {
    return this.#edge[Math.floor(level / pageRows)]![level % pageRows]!.at(-2)!;
  }

  #turnPage(level: number): void {
    const page = Math.floor(level / pageRows);
    this.#full.push({ level: page, index: this.#pageIndex(page) - 1, bytes: pack(this.#edge[page]!) });
    this.#edge[page] = emptyRows();
  }

  #pageIndex(level: number): number {
    return Math.floor(this.#size / pageColumns ** (level + 1));
  }
}

/**
 * Returns, for each level of pages, the page that grows next in a tree of `size` leaves; it may still be
 * empty.
 */
export function edgePages(size: number): PageAddress[] {
  const pages: PageAddress[] = [];
  for (let level = 0; size >= pageColumns ** level; level++) {
    pages.push({ level, index: Math.floor(size / pageColumns ** (level + 1)) });
  }
  return pages;
}

/** Returns whether every node of a page above row 0 is the hash of the two nodes below it. */
export function isPageConsistent(sha256: Hasher, bytes: Uint8Array, width: number): boolean {
  return rowsHash(sha256, unpack(bytes, width));
}

function emptyRows(): Hash[][] {
  return Array.from({ length: pageRows }, () => []);
}

function pack(rows: readonly (readonly Hash[])[]): Uint8Array {
  const bytes = new Uint8Array(pageHashes(rows[0]!.length) * hashBytes);
  let offset = 0;
  for (const row of rows) {
    for (const hash of row) {
      bytes.set(hash, offset);
      offset += hashBytes;
    }
  }
  return bytes;
}

function unpack(bytes: Uint8Array, width: number): Hash[][] {
  return Array.from({ length: pageRows }, (_, row) =>
    Array.from({ length: Math.floor(width / 2 ** row) }, (_, column) => hashInPage(bytes, width, row, column)),
  );
}

function rowsHash(sha256: Hasher, rows: readonly (readonly Hash[])[]): boolean {
  for (let row = 1; row < pageRows; row++) {
    const below = rows[row - 1]!;
    const fits = rows[row]!.every((hash, i) => equalHashes(hash, nodeHash(sha256, below[2 * i]!, below[2 * i + 1]!)));
    if (!fits) return false;
  }
  return true;
}
