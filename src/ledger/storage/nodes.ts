import { sha256 } from '../../crypto/sha256.ts';
import { hashInPage, type PageAddress, pageHashes, pageWidth, placeOf } from '../../tlog/page.ts';
import { type Coordinate, foldRoot, type Hash, hashBytes, rootPlan } from '../../tlog/tree.ts';
import { DamagedError, type LedgerStorage } from './storage.ts';

/**
 * Reads stored nodes for start-up, which has already verified the right edge. Caches the page read last, because
 * start-up reads leaves in order. Nodes that leave the service come from VerifiedNodes.
 */
export class Nodes {
  readonly #storage: LedgerStorage;
  #last: { readonly address: PageAddress; readonly bytes: Uint8Array } | undefined;

  constructor(storage: LedgerStorage) {
    this.#storage = storage;
  }

  /** Returns the hash of a complete node in a log of `size` leaves. @throws DamagedError */
  hashAt(at: Coordinate, size: number): Hash {
    const { row, column, ...address } = placeOf(at);
    const width = pageWidth(address, size);
    return hashInPage(this.#page(address, width), width, row, column);
  }

  /** Returns the root of the tree of the first `treeSize` of `size` leaves. */
  rootAt(treeSize: number, size: number): Hash {
    const hashes = rootPlan(treeSize).map((at) => this.hashAt(at, size));
    return foldRoot(sha256, treeSize, hashes);
  }

  #page(address: PageAddress, width: number): Uint8Array {
    const { level, index } = address;
    const length = pageHashes(width) * hashBytes;
    const last = this.#last;
    if (last?.address.level === level && last.address.index === index && last.bytes.length === length)
      return last.bytes;
    const bytes = new Uint8Array(length);
    const read = this.#storage.readPage(address, bytes);
    if (read !== length) throw new DamagedError(`page ${level}/${index} has ${read} bytes, not ${length}`);
    this.#last = { address, bytes };
    return bytes;
  }
}
