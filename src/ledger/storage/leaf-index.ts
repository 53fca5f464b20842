/**
 * Finds a leaf by its hash, without a random disk page for each append.
 *
 * Leaf hashes are random, so an ordinary index would touch another page for each. Here the newest up to 65,536
 * leaves are a plain array in memory (their first four bytes in order: 256 kB, searched whole in 20 µs). When it
 * is full, the commit that fills it writes it out as a segment of 256 buckets by the first byte of the hash
 * (leaf-rows.ts), and the array starts anew. Segments are merged as the log grows (leaf-runs.ts).
 *
 * A prefix of 32 bits finds a wrong leaf about once in 400 searches at 10 million leaves, so that whoever asks
 * compares the whole hash.
 */
import type { Hash } from '../../tlog/tree.ts';
import { type LeafRow, packRows, prefixOf } from './leaf-rows.ts';
import type { LeafBucket } from './storage.ts';

export const segmentLeaves = 65_536;
const buckets = 256;
const none: readonly LeafBucket[] = [];

/** Owner of the array of newest leaves. */
export class LeafIndex {
  readonly #newest = new Uint32Array(segmentLeaves);
  #size = 0;

  /** The index of a log of `size` leaves; `leafAt` gives the hash of a leaf. */
  static load(size: number, leafAt: (index: number) => Hash): LeafIndex {
    const index = new LeafIndex();
    index.#size = size - (size % segmentLeaves);
    while (index.#size < size) index.add(leafAt(index.#size));
    return index;
  }

  /** Adds the next leaf. When it completes a segment, returns what has to be stored with it. */
  add(hash: Hash): readonly LeafBucket[] {
    return this.addPrefix(prefixOf(hash));
  }

  /** As `add`, for whoever has the first four bytes of the hash as a number. */
  addPrefix(prefix: number): readonly LeafBucket[] {
    const offset = this.#size % segmentLeaves;
    this.#newest[offset] = prefix;
    this.#size += 1;
    return offset === segmentLeaves - 1 ? this.#segment(this.#size / segmentLeaves - 1) : none;
  }

  /** Leaves whose hash begins alike, oldest first. `stored` gives those of so many complete segments. */
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
