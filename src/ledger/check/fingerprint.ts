import { randomInt } from 'node:crypto';
import { finish } from '../../sketch/hash.ts';

export interface FingerprintSums {
  readonly left: number;
  readonly right: number;
  readonly count: number;
}

/**
 * An order-independent sum over rows, so that tables in different orders can be compared without storing either table.
 * It consists of two sums of 32-bit hashes with random seeds: different rows have equal sums with probability 2^-64,
 * and an attacker cannot construct a collision.
 */
export class Fingerprint {
  readonly #one: number;
  readonly #two: number;
  #left = 0;
  #right = 0;
  #count = 0;

  /** Fingerprints are comparable if they have the same seeds. */
  constructor(seeds: readonly [number, number]) {
    [this.#one, this.#two] = seeds;
  }

  /** Adds a row of up to six 32-bit words. */
  add(a: number, b: number, c: number, d: number, e: number, f: number): void {
    this.#left = (this.#left + mix(this.#one, a, b, c, d, e, f)) | 0;
    this.#right = (this.#right + mix(this.#two, a, b, c, d, e, f)) | 0;
    this.#count += 1;
  }

  /** The sums as numbers, which can be sent to another thread. */
  get sums(): FingerprintSums {
    return { left: this.#left, right: this.#right, count: this.#count };
  }

  /** Adds the sums of another fingerprint with the same seeds. */
  join({ left, right, count }: FingerprintSums): void {
    this.#left = (this.#left + left) | 0;
    this.#right = (this.#right + right) | 0;
    this.#count += count;
  }

  /**
   * Returns the sum of the rows that are in this fingerprint but not in `other`, which must have the same
   * seeds and a subset of the rows.
   */
  without(other: Fingerprint): Fingerprint {
    const rest = new Fingerprint([this.#one, this.#two]);
    rest.#left = (this.#left - other.#left) | 0;
    rest.#right = (this.#right - other.#right) | 0;
    rest.#count = this.#count - other.#count;
    return rest;
  }

  get count(): number {
    return this.#count;
  }

  equals(other: Fingerprint): boolean {
    return this.#count === other.#count && this.#left === other.#left && this.#right === other.#right;
  }
}

export function randomSeeds(): readonly [number, number] {
  return [randomInt(2 ** 32), randomInt(2 ** 32)];
}

function mix(seed: number, a: number, b: number, c: number, d: number, e: number, f: number): number {
  let x = scramble(seed ^ a);
  x = scramble(x ^ b);
  x = scramble(x ^ c);
  x = scramble(x ^ d);
  x = scramble(x ^ e);
  return scramble(x ^ f);
}

/** Computes the finaliser of MurmurHash3 with an offset, so that zeros have an effect too. */
const scramble = (word: number): number => finish(word + 0x9e3779b9) | 0;
