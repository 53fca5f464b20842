const bits = 16;
const full = 255;

/**
 * Says of most keys that aren't kept, in one look at 64 kB, that they aren't: keys counted by 16 bits of their hashes. A
 * count that is full stays so. Who chooses keys can make it say nothing; then tables are asked for all.
 */
export class Sieve {
  readonly #counts = new Uint8Array(2 ** bits);

  mayHave(hash: number): boolean {
    return this.#counts[placeOf(hash)]! > 0;
  }

  add(hash: number): void {
    const place = placeOf(hash);
    if (this.#counts[place]! < full) this.#counts[place]!++;
  }

  remove(hash: number): void {
    const place = placeOf(hash);
    if (this.#counts[place]! < full) this.#counts[place]!--;
  }

  clear(): void {
    this.#counts.fill(0);
  }
}

/** Of two hashes of 32 bits. */
export const together = (one: number, other: number): number => one ^ Math.imul(other, 0x85ebca6b);

const placeOf = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x9e3779b1) >>> (32 - bits);
