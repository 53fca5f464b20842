import { hash } from 'node:crypto';
import { sha256 } from '../../crypto/sha256.ts';
import {
  type PageAddress,
  pageColumns,
  pageHashes,
  pageOffset,
  pageRows,
  pageWidth,
  placeOf,
} from '../../tlog/page.ts';
import { type Coordinate, equalHashes, foldRoot, type Hash, hashBytes, rootPlan } from '../../tlog/tree.ts';
import { DamagedError, EdgeDamagedError, type LedgerStorage, type SignedHead } from '../storage/storage.ts';
import type { TileDigests } from './tile-digests.ts';

/**
 * Cached pages: 4 MB, the upper levels of 16 million leaves. A proof reads one page of each level, and the upper pages
 * are shared by many proofs. For level 0, only the page on the right edge and the page read last are cached.
 */
const cachedPages = 256;
const fullPageHashes = pageHashes(pageColumns);

/** A page in memory. Its bytes do not change, so a hash that was verified once stays verified. */
interface Page {
  readonly address: PageAddress;
  readonly width: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** One byte per hash: 1 if the hash is verified. */
  readonly verified: Uint8Array;
}

/**
 * Stored nodes of the tree, each verified against the signed head before it is returned.
 *
 * A node is valid if it hashes, together with its sibling, to its parent, and the parent is valid. The root of a full
 * page is a node of the page above; the complete subtrees on the right edge must fold to the root of the latest head. A
 * proof from a page that was just read costs eight additional hashes, a proof from cached pages costs none.
 */
export class VerifiedNodes {
  readonly #storage: LedgerStorage;
  readonly #latest: () => SignedHead | undefined;
  readonly #digests: TileDigests | undefined;
  readonly #cache = new Map<number, Page>();
  /**
   * Reused for the full page of level 0 that was read last: allocating 16 kB for each took a tenth of the
   * thread's time.
   */
  readonly #lastBytes = new Uint8Array(fullPageHashes * hashBytes);
  readonly #lastVerified = new Uint8Array(fullPageHashes);
  #last: Page | undefined;
  /** The head whose edge was verified last. */
  #edgeOf: SignedHead | undefined;
  /** The verified nodes of the edge. */
  #edge: ReadonlyMap<string, Hash> = new Map();

  /**
   * @param latest - returns the signed head of the current content of `storage`
   * @param digests - of tiles that were verified before; without them each tile that is read is verified
   * again
   */
  constructor(storage: LedgerStorage, latest: () => SignedHead | undefined, digests?: TileDigests) {
    this.#storage = storage;
    this.#latest = latest;
    this.#digests = digests;
  }

  /** Returns the hash of a complete node of the latest tree. @throws DamagedError, EdgeDamagedError */
  hashAt(at: Coordinate): Hash {
    const place = placeOf(at);
    const page = this.#page(place);
    const offset = pageOffset(page.width, place.row, place.column);
    if (page.verified[offset] === 0) this.#verify(page, place.row, place.column);
    return page.bytes.slice(offset * hashBytes, (offset + 1) * hashBytes);
  }

  /** Returns whether the node has this hash. Like `hashAt`, but without a copy. */
  hasHash(at: Coordinate, hash: Hash): boolean {
    const place = placeOf(at);
    const page = this.#page(place);
    const offset = pageOffset(page.width, place.row, place.column);
    if (page.verified[offset] === 0) this.#verify(page, place.row, place.column);
    const start = offset * hashBytes;
    for (let i = 0; i < hashBytes; i++) if (hash[i] !== page.bytes[start + i]) return false;
    return true;
  }

  /** Returns the first `width` hashes of the bottom row of a page, which must have at least `width` columns. */
  rowOf(address: PageAddress, width: number): Uint8Array<ArrayBuffer> {
    const page = this.#page(address);
    const row = page.bytes.slice(0, width * hashBytes);
    const digests = address.level === 0 && width === pageColumns ? this.#digests : undefined;
    if (digests?.has(address.index, row)) {
      page.verified.fill(1, 0, width);
      return row;
    }
    if (page.width === pageColumns && width === pageColumns) this.#verifyPage(page);
    else for (let column = 0; column < width; column++) if (page.verified[column] === 0) this.#verify(page, 0, column);
    digests?.add(address.index, row);
    return row;
  }

  /** Digests of bundles of entries that were already verified; undefined if this object has no digests. */
  get bundles(): TileDigests | undefined {
    return this.#digests?.bundles;
  }

  /** Returns the root of the first `treeSize` leaves of the latest tree. */
  rootAt(treeSize: number): Hash {
    const hashes = rootPlan(treeSize).map((at) => this.hashAt(at));
    return foldRoot(sha256, treeSize, hashes);
  }

  /** Clears the cache, so that everything verified next is read from disk. */
  forget(): void {
    this.#cache.clear();
    this.#last = undefined;
    this.#edgeOf = undefined;
  }

  /** Verifies all hashes of a full page, each pair once: the top pair of the page, then row by row downwards. */
  #verifyPage(page: Page): void {
    const { verified, bytes } = page;
    for (let row = pageRows - 1; row >= 0; row--) {
      const first = pageOffset(pageColumns, row, 0);
      for (let column = 0; column < pageColumns / 2 ** row; column += 2) {
        const pair = first + column;
        if (verified[pair] === 1 && verified[pair + 1] === 1) continue;
        if (row === pageRows - 1) this.#verify(page, row, column);
        else if (!isParent(page, pair, bytes, pageOffset(pageColumns, row + 1, column / 2)))
          throw damagedPage(page, 'has inconsistent hashes');
        verified[pair] = 1;
        verified[pair + 1] = 1;
      }
    }
  }

  /**
   * Hashes from a node up to the next verified one, and marks all nodes on the way and their siblings as
   * verified.
   */
  #verify(page: Page, startRow: number, startColumn: number): void {
    const { width, verified } = page;
    const found: number[] = [];
    let row = startRow;
    let column = startColumn;
    while (verified[pageOffset(width, row, column)] === 0) {
      const parentColumn = Math.floor(column / 2);
      const isTop = row === pageRows - 1;
      if (isTop ? width < pageColumns : parentColumn >= Math.floor(width / 2 ** (row + 1))) {
        this.#verifyEdge(page, row, column);
        found.push(pageOffset(width, row, column));
        break;
      }
      const pair = pageOffset(width, row, 2 * parentColumn);
      const { level, index } = page.address;
      const isRight = isTop
        ? isParent(page, pair, this.hashAt({ level: pageRows * (level + 1), index }), 0)
        : isParent(page, pair, page.bytes, pageOffset(width, row + 1, parentColumn));
      if (!isRight) throw damagedPage(page, 'has inconsistent hashes');
      found.push(pair, pair + 1);
      if (isTop) break;
      row += 1;
      column = parentColumn;
    }
    for (const offset of found) verified[offset] = 1;
  }

  #verifyEdge(page: Page, row: number, column: number): void {
    const { level, index } = page.address;
    const at = {
      level: pageRows * level + row,
      index: index * (pageColumns / 2 ** row) + column,
    };
    const wanted = this.#verifiedEdge().get(nameOf(at));
    if (wanted === undefined || !equalHashes(wanted, hashOf(page, row, column)))
      throw new EdgeDamagedError(`page ${level}/${index} does not belong to the signed tree`);
  }

  /** Returns the complete subtrees on the right edge, which fold to the root of the latest head. */
  #verifiedEdge(): ReadonlyMap<string, Hash> {
    const head = this.#latest();
    if (head === undefined) throw new DamagedError('there is no signed head');
    if (this.#edgeOf === head) return this.#edge;
    const plan = rootPlan(head.size);
    const hashes = plan.map((at) => {
      const { row, column, ...address } = placeOf(at);
      return hashOf(this.#page(address), row, column);
    });
    if (!equalHashes(foldRoot(sha256, head.size, hashes), head.root))
      throw new EdgeDamagedError(
        `the right edge of the tree does not match the root of the signed head of ${head.size} leaves`,
      );
    this.#edge = new Map(plan.map((at, i) => [nameOf(at), hashes[i]!]));
    this.#edgeOf = head;
    return this.#edge;
  }

  #page(address: PageAddress): Page {
    const width = pageWidth(address, this.#latest()?.size ?? 0);
    const name = address.index * 8 + address.level; // the level of a page is below 7
    const last = this.#last;
    if (last !== undefined && last.address.level === address.level && last.address.index === address.index) return last;
    const cached = this.#cache.get(name);
    if (cached?.width === width) return cached; // a page of another width has grown since it was cached
    const isPassing = address.level === 0 && width === pageColumns;
    if (isPassing) this.#last = undefined;
    const length = pageHashes(width) * hashBytes;
    const bytes = isPassing ? this.#lastBytes : new Uint8Array(length);
    const read = this.#storage.readPage(address, bytes);
    if (read !== length) throw damagedPage({ address, width }, `has ${read} bytes, not ${length}`);
    const verified = isPassing ? this.#lastVerified.fill(0) : new Uint8Array(pageHashes(width));
    const page = { address, width, bytes, verified };
    this.#cache.delete(name);
    if (isPassing) this.#last = page;
    else this.#addToCache(name, page);
    return page;
  }

  #addToCache(name: number, page: Page): void {
    if (this.#cache.size >= cachedPages) this.#cache.delete(this.#cache.keys().next().value!);
    this.#cache.set(name, page);
  }
}

/** A byte 1, followed by space for two hashes. Siblings are adjacent in a page. */
const nodeInput = Uint8Array.from({ length: 1 + 2 * hashBytes }, (_, i) => (i === 0 ? 1 : 0));

/** Returns whether two siblings hash (RFC 6962) to hash `n` of `hashes`. Avoiding copies halves the time. */
function isParent({ bytes }: Page, pair: number, hashes: Uint8Array, n: number): boolean {
  nodeInput.set(bytes.subarray(pair * hashBytes, (pair + 2) * hashBytes), 1);
  const digest = hash('sha256', nodeInput, 'binary');
  const start = n * hashBytes;
  for (let i = 0; i < hashBytes; i++) if (digest.charCodeAt(i) !== hashes[start + i]) return false;
  return true;
}

function hashOf({ bytes, width }: Page, row: number, column: number): Hash {
  const start = pageOffset(width, row, column) * hashBytes;
  return bytes.slice(start, start + hashBytes);
}

/** Returns the error for a damaged page. Damage to a page that is not full is damage to the right edge. */
function damagedPage({ address, width }: Pick<Page, 'address' | 'width'>, how: string): DamagedError {
  const Fault = width === pageColumns ? DamagedError : EdgeDamagedError;
  return new Fault(`page ${address.level}/${address.index} ${how}`);
}

const nameOf = ({ level, index }: Coordinate): string => `${level}/${index}`;
