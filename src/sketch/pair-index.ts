import { freed, grown } from './grown.ts';

/**
 * Assigns consecutive numbers from 0 to pairs of 32-bit integers, in order of first appearance. A pair takes 10
 * ns; in a Map with keys above 31 bits, it would take 60 ns. The index is cleared between blocks and keeps its
 * capacity.
 */
export class PairIndex {
  /** First integer of each pair, by number. */
  a = new Int32Array(64);
  /** Second integer of each pair, by number. */
  b = new Int32Array(64);
  length = 0;
  /** Number of the pair plus 1; 0 if free. At most half of the slots are used. */
  #slots = new Int32Array(256);

  /** Returns the number of a pair; a new pair gets the previous `length`. */
  of(a: number, b: number): number {
    const slot = this.#slotOf(a, b);
    const number = this.#slots[slot]! - 1;
    return number < 0 ? this.#add(a, b, slot) : number;
  }

  /** Returns the number of a pair, or -1. */
  find(a: number, b: number): number {
    return this.#slots[this.#slotOf(a, b)]! - 1;
  }

  clear(): void {
    if (this.length > 0) this.#slots.fill(0);
    this.length = 0;
  }

  /** Releases the memory. The index must not be used afterwards. */
  release(): void {
    for (const array of [this.a, this.b, this.#slots]) freed(array);
  }

  /** Returns the slot of a pair, or the free slot for a new pair. */
  #slotOf(a: number, b: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = mixed(a, b) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]! - 1;
      if (number < 0 || (this.a[number] === a && this.b[number] === b)) return slot;
    }
  }

  #add(a: number, b: number, slot: number): number {
    const number = this.length++;
    this.#slots[slot] = number + 1;
    if (number === this.a.length) {
      this.a = grown(this.a);
      this.b = grown(this.b);
    }
    this.a[number] = a;
    this.b[number] = b;
    if (2 * this.length > this.#slots.length) this.#rehash();
    return number;
  }

  #rehash(): void {
    this.#slots = grown(this.#slots).fill(0);
    for (let number = 0; number < this.length; number++)
      this.#slots[this.#slotOf(this.a[number]!, this.b[number]!)] = number + 1;
  }
}

function mixed(a: number, b: number): number {
  let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
