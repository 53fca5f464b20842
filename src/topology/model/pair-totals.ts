import { finish } from '../../sketch/hash.ts';
import { most } from './edges.ts';

/**
 * Totals between pairs of nodes. A pair takes 24 bytes, and 8 to 16 bytes for the index; an edge with ports and
 * protocols takes 150 bytes. Outgrown memory is released immediately.
 */
export class PairTotals {
  count = 0;
  source = new Uint32Array(firstRoom);
  target = new Uint32Array(firstRoom);
  bytes = new Float64Array(firstRoom);
  connections = new Float64Array(firstRoom);
  /** Number of the pair plus 1; 0 if free. At most half of the slots are used. */
  #slots = new Int32Array(2 * firstRoom);

  /** Adds to the totals from `source` to `target`. */
  add(source: number, target: number, bytes: number, connections: number): void {
    const slot = this.#slotOf(source, target);
    const known = this.#slots[slot]! - 1;
    const pair = known < 0 ? this.#insert(slot, source, target) : known;
    this.bytes[pair] = Math.min(most, this.bytes[pair]! + bytes);
    this.connections[pair] = Math.min(most, this.connections[pair]! + connections);
  }

  /** Returns the number of a pair, or -1. */
  find(source: number, target: number): number {
    return this.#slots[this.#slotOf(source, target)]! - 1;
  }

  /** Releases the memory. The object must not be used afterwards. */
  release(): void {
    for (const array of [this.source, this.target, this.bytes, this.connections, this.#slots]) freed(array);
  }

  #slotOf(source: number, target: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = mixed(source, target) & mask; ; slot = (slot + 1) & mask) {
      const pair = this.#slots[slot]! - 1;
      if (pair < 0 || (this.source[pair] === source && this.target[pair] === target)) return slot;
    }
  }

  #insert(slot: number, source: number, target: number): number {
    const pair = this.count++;
    this.source[pair] = source;
    this.target[pair] = target;
    this.#slots[slot] = pair + 1;
    if (this.count === this.source.length) this.#grow();
    return pair;
  }

  #grow(): void {
    const room = 2 * this.count;
    this.source = moved(this.source, new Uint32Array(room));
    this.target = moved(this.target, new Uint32Array(room));
    this.bytes = moved(this.bytes, new Float64Array(room));
    this.connections = moved(this.connections, new Float64Array(room));
    freed(this.#slots);
    this.#slots = new Int32Array(2 * room);
    const mask = this.#slots.length - 1;
    for (let pair = 0; pair < this.count; pair++) {
      let slot = mixed(this.source[pair]!, this.target[pair]!) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = pair + 1;
    }
  }
}

const firstRoom = 64;

const mixed = (source: number, target: number): number => finish(Math.imul(source, 0x9e3779b1) ^ finish(target));

type Column = Uint8Array | Int32Array | Uint32Array | Float64Array;

/** Copies the values of a column to a larger array, and releases the smaller array. */
export function moved<A extends Column>(from: A, to: A): A {
  to.set(from);
  freed(from);
  return to;
}

/**
 * Releases the memory of an array whose values are no longer needed. The garbage collector would release the
 * memory only after further allocations, so a thread that is idle after one large query would keep a gigabyte.
 */
export function freed(array: Column): void {
  (array.buffer as ArrayBuffer).transfer(0);
}
