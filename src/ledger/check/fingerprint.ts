import { randomInt } from 'node:crypto';
import { finish } from '../../sketch/hash.ts';

export interface FingerprintSums {
  readonly left: number;
  readonly right: number;
  readonly count: number;
}

/**
 * A sum over rows that doesn't depend on their order, so that a table in one order is held against a table in another
 * without keeping either. Two sums of 32-bit hashes under random seeds: rows that differ give the same sums once in 2^64
 * times, and nobody can aim at that.
 */
export class Fingerprint {
  readonly #one: number;
  readonly #two: number;
  #left = 0;
  #right = 0;
  #count = 0;

  /** Two fingerprints can be compared when they have the same seeds. */
  constructor(seeds: readonly [number, number]) {
    [this.#one, this.#two] = seeds;
  }

  /** A row of up to six 32-bit words. */
  add(a: number, b: number, c: number, d: number, e: number, f: number): void {
    this.#left = (this.#left + mixed(this.#one, a, b, c, d, e, f)) | 0;
    this.#right = (this.#right + mixed(this.#two, a, b, c, d, e, f)) | 0;
    this.#count += 1;
  }

  /** As numbers, to cross threads. */
  get sums(): FingerprintSums {
    return { left: this.#left, right: this.#right, count: this.#count };
  }

  /** Takes in what another one, with the same seeds, has summed up. */
  join({ left, right, count }: FingerprintSums): void {
    this.#left = (this.#left + left) | 0;
    this.#right = (this.#right + right) | 0;
    this.#count += count;
  }

  /** A sum of the rows that are in this one and not in the other, which has the same seeds and no other rows. */
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

function mixed(seed: number, a: number, b: number, c: number, d: number, e: number, f: number): number {
  let x = stirred(seed ^ a);
  x = stirred(x ^ b);
  x = stirred(x ^ c);
  x = stirred(x ^ d);
  x = stirred(x ^ e);
  return stirred(x ^ f);
}

/** The finalizer of MurmurHash3 with an offset, so that zeros count too. */
const stirred = (word: number): number => finish(word + 0x9e3779b9) | 0;
