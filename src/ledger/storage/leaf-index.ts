/**
 * Finds a leaf by its hash, without a random disk page for each append.
 *
 * Leaf hashes are random, so an ordinary index would touch another page for each. Here the newest up to 65,536
 * leaves are a plain array in memory (their first four bytes in order: 256 kB, searched whole in 20 µs). When it
 * is full, the commit that fills it writes it out as a segment of 256 buckets by the first byte of the hash, and
 * the array starts anew. A bucket's rows are first all prefixes, then all offsets:
 *
 *     | u32be first four bytes of hash | × rows | u16be offset of leaf in segment | × rows
 *
 * A search reads one bucket (1.5 kB) of each segment: 153 of them at 10 million leaves. A prefix of 32 bits
 * finds a wrong leaf about once in 400 searches then, so that whoever asks compares the whole hash.
 */
import type { Hash } from '../../tlog/tree.ts';
import type { LeafBucket } from './storage.ts';

export const segmentLeaves = 65_536;
const buckets = 256;
const rowBytes = 6;

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
  add(hash: Hash): LeafBucket[] {
    const offset = this.#size % segmentLeaves;
    this.#newest[offset] = prefixOf(hash);
    this.#size += 1;
    return offset === segmentLeaves - 1 ? this.#segment(this.#size / segmentLeaves - 1) : [];
  }

  /** Leaves whose hash begins alike, oldest first. `load` gives a stored bucket's rows. */
  *candidates(
    hash: Hash,
    load: (segment: number, bucket: number) => Uint8Array | undefined,
  ): Generator<number> {
    const prefix = prefixOf(hash);
    const complete = Math.floor(this.#size / segmentLeaves);
    for (let segment = 0; segment < complete; segment++) {
      const rows = load(segment, hash[0]!);
      if (rows === undefined) continue;
      for (const offset of offsetsIn(rows, prefix)) yield segment * segmentLeaves + offset;
    }
    const newest = this.#newest.subarray(0, this.#size % segmentLeaves);
    for (let at = newest.indexOf(prefix); at >= 0; at = newest.indexOf(prefix, at + 1)) {
      yield complete * segmentLeaves + at;
    }
  }

  #segment(segment: number): LeafBucket[] {
    const offsets: number[][] = Array.from({ length: buckets }, () => []);
    this.#newest.forEach((prefix, offset) => {
      offsets[prefix >>> 24]!.push(offset);
    });
    return offsets
      .map((list, bucket) => ({ segment, bucket, rows: this.#pack(list) }))
      .filter(({ rows }) => rows.length > 0);
  }

  #pack(offsets: readonly number[]): Uint8Array {
    const rows = new Uint8Array(offsets.length * rowBytes);
    const view = new DataView(rows.buffer);
    offsets.forEach((offset, i) => {
      view.setUint32(4 * i, this.#newest[offset]!);
      view.setUint16(4 * offsets.length + 2 * i, offset);
    });
    return rows;
  }
}

function* offsetsIn(rows: Uint8Array, prefix: number): Generator<number> {
  const view = new DataView(rows.buffer, rows.byteOffset, rows.length);
  const count = Math.floor(rows.length / rowBytes);
  for (let i = 0; i < count; i++) {
    if (view.getUint32(4 * i) === prefix) yield view.getUint16(4 * count + 2 * i);
  }
}

function prefixOf(hash: Hash): number {
  return ((hash[0]! * 256 + hash[1]!) * 256 + hash[2]!) * 256 + hash[3]!;
}
