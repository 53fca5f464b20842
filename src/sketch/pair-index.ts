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
    const mask = this.#slots.length - 1;
    for (let slot = mixed(a, b) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]! - 1;
      if (number < 0) return this.#add(a, b, slot);
      if (this.a[number] === a && this.b[number] === b) return number;
    }
  }

  clear(): void {
    if (this.length > 0) this.#slots.fill(0);
    this.length = 0;
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
    this.#slots = new Int32Array(2 * this.#slots.length);
    const mask = this.#slots.length - 1;
    for (let number = 0; number < this.length; number++) {
      let slot = mixed(this.a[number]!, this.b[number]!) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }
}

function mixed(a: number, b: number): number {
  let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length);
  larger.set(array);
  return larger;
}
