import { finish } from '../../sketch/hash.ts';
import { PairIndex } from '../../sketch/pair-index.ts';

/**
 * A set of 64-bit hashes that records the earlier contents of the graph: 16 to 32 bytes per hash. A collision among a
 * million hashes has a probability of 1 in 37 million. Senders cannot cause collisions, because the hashes are seeded.
 */
export class SeenSet {
  readonly #hashes = new PairIndex();

  /** Returns true if the hash was added. */
  add(high: number, low: number): boolean {
    const { length } = this.#hashes;
    return this.#hashes.of(high | 0, low | 0) === length;
  }

  has(high: number, low: number): boolean {
    return this.#hashes.find(high | 0, low | 0) >= 0;
  }
}

/** Returns one half of the hash of an ordered pair. */
export function pairHash(a: number, b: number, kind: number): number {
  return finish(Math.imul(finish(a ^ kind), 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ (b >>> 15));
}
