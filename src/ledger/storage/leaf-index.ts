/**
 * Finds a leaf by its hash, without a random disk page for each append.
 *
 * Leaf hashes are random, so an ordinary index would touch a different page for each. In this index, the newest leaves,
 * up to 65,536, are an array in memory (their first four bytes in order: 256 kB, searched whole in 20 µs).
 * The commit that fills the array writes it as a segment of 256 buckets by the first byte of the hash
 * (leaf-rows.ts), and the array starts empty again. Segments are merged as the log grows (leaf-runs.ts).
 *
 * A 32-bit prefix finds a wrong leaf about once in 400 searches at 10 million leaves, so callers must compare
 * the whole hash.
 */
import type { Hash } from '../../tlog/tree.ts';
import { type LeafRow, packRows, prefixOf } from './leaf-rows.ts';
import type { LeafBucket } from './storage.ts';

export const segmentLeaves = 65_536;
const buckets = 256;
const none: readonly LeafBucket[] = [];

/** Owns the array of newest leaves. */
export class LeafIndex {
  readonly #newest = new Uint32Array(segmentLeaves);
  #size = 0;

  /** Loads the index of a log of `size` leaves; `leafAt` returns the hash of a leaf. */
  static load(size: number, leafAt: (index: number) => Hash): LeafIndex {
    const index = new LeafIndex();
    index.#size = size - (size % segmentLeaves);
    while (index.#size < size) index.add(leafAt(index.#size));
    return index;
  }

  /** Adds the next leaf. If it completes a segment, returns the buckets to store with it. */
  add(hash: Hash): readonly LeafBucket[] {
    return this.addPrefix(prefixOf(hash));
  }

  /** Adds a leaf like `add`, for callers that have the first four bytes of the hash as a number. */
  addPrefix(prefix: number): readonly LeafBucket[] {
    const offset = this.#size % segmentLeaves;
    this.#newest[offset] = prefix;
    this.#size += 1;
    return offset === segmentLeaves - 1 ? this.#segment(this.#size / segmentLeaves - 1) : none;
  }

  /**
   * Yields leaves whose hash has the same prefix as `hash`, oldest first. `stored` returns the leaves of complete
   * segments.
   */
  *candidates(hash: Hash, stored: (hash: Hash, segments: number) => Iterable<number>): Generator<number> {
    const prefix = prefixOf(hash);
    const complete = Math.floor(this.#size / segmentLeaves);
    yield* stored(hash, complete);
    const newest = this.#newest.subarray(0, this.#size % segmentLeaves);
    for (let at = newest.indexOf(prefix); at >= 0; at = newest.indexOf(prefix, at + 1)) {
      yield complete * segmentLeaves + at;
    }
  }

  #segment(segment: number): LeafBucket[] {
    const rows: LeafRow[][] = Array.from({ length: buckets }, () => []);
    this.#newest.forEach((prefix, offset) => {
      rows[prefix >>> 24]!.push({ prefix, offset });
    });
    return rows
      .map((list, bucket) => ({ segment, bucket, rows: packRows(list, 2) }))
      .filter((bucket) => bucket.rows.length > 0);
  }
}
