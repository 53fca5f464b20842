import { finish } from '../sketch/hash.ts';

/**
 * Remembers 64-bit hashes, 8 bytes each and as much again for room: what was in the graph before. That two of a million
 * share one has a chance of 1 in 37 million; senders can't aim for it, because the hashes are seeded.
 */
export class SeenSet {
  count = 0;
  #high = new Uint32Array(1024);
  #low = new Uint32Array(1024);

  /** True where it was not there yet. */
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

  /** The free place where it belongs, or -1 where it is there. */
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

/** One half of the hash of a pair, in this order; never 0, which stands for a free place. */
export function pairHash(a: number, b: number, kind: number): number {
  return finish(Math.imul(finish(a ^ kind), 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ (b >>> 15)) || 1;
}
