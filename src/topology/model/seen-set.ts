import { finish } from '../../sketch/hash.ts';

/**
 * A set of 64-bit hashes that records the earlier contents of the graph: 8 bytes per hash, and the same
 * amount for free slots. A collision among a million hashes has a probability of 1 in 37 million. Senders cannot
 * cause collisions, because the hashes are seeded.
 */
export class SeenSet {
  count = 0;
  #high = new Uint32Array(1024);
  #low = new Uint32Array(1024);

  /** Returns true if the hash was added. */
  add(high: number, low: number): boolean {
    const place = this.#place(high, low);
    if (place < 0) return false;
    this.#high[place] = high;
    this.#low[place] = low;
    if (2 * ++this.count >= this.#high.length) this.#grow();
    return true;
  }

  has(high: number, low: number): boolean {
    return this.#place(high, low) < 0;
  }

  /** Returns the free slot of a hash, or -1 if the set contains the hash. */
  #place(high: number, low: number): number {
    const mask = this.#high.length - 1;
    for (let place = (high ^ low) & mask; ; place = (place + 1) & mask) {
      if (this.#high[place] === high && this.#low[place] === low) return -1;
      if (this.#high[place] === 0 && this.#low[place] === 0) return place;
    }
  }

  #grow(): void {
    const high = this.#high;
    const low = this.#low;
    this.#high = new Uint32Array(2 * high.length);
    this.#low = new Uint32Array(2 * low.length);
    for (let i = 0; i < high.length; i++) {
      if (high[i] === 0 && low[i] === 0) continue;
      const place = this.#place(high[i]!, low[i]!);
      this.#high[place] = high[i]!;
      this.#low[place] = low[i]!;
    }
  }
}

/** Returns one half of the hash of an ordered pair; never 0, which marks a free slot. */
export function pairHash(a: number, b: number, kind: number): number {
  return finish(Math.imul(finish(a ^ kind), 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ (b >>> 15)) || 1;
}
