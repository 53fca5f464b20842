import { grown } from '../../sketch/grown.ts';
import { PairIndex } from '../../sketch/pair-index.ts';

/** Events and bytes per pair of a bucket and a value, for the rows of one block. */
export class Sums {
  readonly pairs = new PairIndex();
  events = new Float64Array(64);
  bytes = new Float64Array(64);
  /** The numbers of the pairs, grouped by bucket. */
  #order = new Int32Array(64);
  #ends = new Int32Array(64);

  clear(): void {
    this.pairs.clear();
  }

  add(bucket: number, code: number, bytes: number): void {
    const known = this.pairs.length;
    const number = this.pairs.of(bucket, code);
    if (number === known) {
      if (number === this.events.length) this.#grow();
      this.events[number] = 1;
      this.bytes[number] = bytes;
    } else {
      this.events[number]!++;
      this.bytes[number]! += bytes;
    }
  }

  /**
   * Calls `tell` for each bucket with pairs. The numbers are valid until the next call of `eachBucket`, and
   * may be sorted in place.
   */
  eachBucket(buckets: number, tell: (bucket: number, numbers: Int32Array) => void): void {
    const { a, length } = this.pairs;
    if (this.#order.length < length) this.#order = new Int32Array(this.events.length);
    if (this.#ends.length < buckets) this.#ends = new Int32Array(2 * buckets);
    const ends = this.#ends.fill(0, 0, buckets);
    for (let number = 0; number < length; number++) ends[a[number]!]!++;
    for (let bucket = 1; bucket < buckets; bucket++) ends[bucket]! += ends[bucket - 1]!;
    // The pairs are visited in reverse order, and each bucket is filled from its end, so `ends` finally
    // contains the starts.
    for (let number = length - 1; number >= 0; number--) this.#order[--ends[a[number]!]!] = number;
    for (let bucket = 0; bucket < buckets; bucket++) {
      const end = bucket + 1 < buckets ? ends[bucket + 1]! : length;
      if (ends[bucket]! < end) tell(bucket, this.#order.subarray(ends[bucket]!, end));
    }
  }

  #grow(): void {
    this.events = grown(this.events);
    this.bytes = grown(this.bytes);
  }
}
