import { PairIndex } from '../../../sketch/pair-index.ts';
import { type Frequent, mergeFrequent } from './frequent.ts';

/** A key of two integers, and its conversion to and from the text in states and findings. */
export interface FrequentForm<K> {
  write(key: K): string;
  read(text: string): readonly [a: number, b: number, key: K];
}

/**
 * Counts like `Frequent`, but identifies a key by two integers. Adding takes 20 to 30 ns instead of 100 to 150 ns, and
 * creates no objects. Texts are written only on demand. At least one integer must be a keyed hash, so that senders of
 * events cannot choose keys that collide.
 */
export class FrequentKeys<K> {
  readonly #counters: number;
  readonly #form: FrequentForm<K>;
  readonly #index = new PairIndex();
  /** Counts by number in the index. */
  readonly #counts: Float64Array;
  readonly #keys: K[] = [];

  constructor(counters: number, form: FrequentForm<K>) {
    this.#counters = counters;
    this.#form = form;
    this.#counts = new Float64Array(counters);
  }

  /** Adds a key, given by two integers of 32 bits, signed or unsigned. */
  add(a: number, b: number, key: K): void {
    const { length } = this.#index;
    const number = this.#index.of(a | 0, b | 0);
    if (number < length) this.#counts[number]!++;
    else if (number < this.#counters) this.#set(number, key, 1);
    else this.#lower();
  }

  clear(): void {
    this.#index.clear();
  }

  get counts(): Frequent {
    const counts: Frequent = new Map();
    for (let i = 0; i < this.#index.length; i++) counts.set(this.#form.write(this.#keys[i]!), this.#counts[i]!);
    return counts;
  }

  merge(from: Frequent): void {
    const { counts } = this;
    mergeFrequent(counts, from, this.#counters);
    this.clear();
    for (const [text, count] of counts) {
      const [a, b, key] = this.#form.read(text);
      this.#set(this.#index.of(a | 0, b | 0), key, count);
    }
  }

  #set(number: number, key: K, count: number): void {
    this.#counts[number] = count;
    this.#keys[number] = key;
  }

  /** Lowers all counts by one, and removes keys that are no longer counted. */
  #lower(): void {
    const { a, b } = this.#index;
    this.#index.clear();
    for (let i = 0; i < this.#counters; i++) {
      const count = this.#counts[i]! - 1;
      if (count > 0) this.#set(this.#index.of(a[i]!, b[i]!), this.#keys[i]!, count);
    }
  }
}
