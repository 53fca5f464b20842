const bits = 16;
const full = 255;

/**
 * Counts keys by 16 bits of their hashes, so that most unknown keys are recognised with one access to 64 kB.
 * A full counter stays full. An attacker who chooses keys can make the filter useless; then every key is
 * looked up in the tables.
 */
export class CountingFilter {
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

/** Combines two 32-bit hashes. */
export const together = (one: number, other: number): number => one ^ Math.imul(other, 0x85ebca6b);

const placeOf = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x9e3779b1) >>> (32 - bits);
