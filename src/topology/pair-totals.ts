import { finish } from '../sketch/hash.ts';
import { most } from './edges.ts';

/**
 * How much goes between pairs of nodes: 24 bytes a pair and 8 to 16 of index, where an edge with its ports and protocols
 * takes 150. Memory that it outgrows is given back at once.
 */
export class PairTotals {
  count = 0;
  source = new Uint32Array(firstRoom);
  target = new Uint32Array(firstRoom);
  bytes = new Float64Array(firstRoom);
  connections = new Float64Array(firstRoom);
  /** Number + 1 of the pair; 0 where free. At most half of it is used. */
  #slots = new Int32Array(2 * firstRoom);

  /** Adds to what goes from `source` to `target`. */
  add(source: number, target: number, bytes: number, connections: number): void {
    const slot = this.#slotOf(source, target);
    const known = this.#slots[slot]! - 1;
    const pair = known < 0 ? this.#insert(slot, source, target) : known;
    this.bytes[pair] = Math.min(most, this.bytes[pair]! + bytes);
    this.connections[pair] = Math.min(most, this.connections[pair]! + connections);
  }

  /** The number of a pair, or -1. */
  find(source: number, target: number): number {
    return this.#slots[this.#slotOf(source, target)]! - 1;
  }

  /** Gives the memory back: it is not to be used any more. */
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

const mixed = (source: number, target: number): number =>
  finish(Math.imul(source, 0x9e3779b1) ^ finish(target));

type Column = Uint8Array | Int32Array | Uint32Array | Float64Array;

/** The values of a column in a larger one, the memory of the smaller given back. */
export function moved<A extends Column>(from: A, to: A): A {
  to.set(from);
  freed(from);
  return to;
}

/**
 * Gives the memory of an array back, of which nothing is left. The collector would do so when more has been asked for: a
 * thread that answers one large question and then none would keep a gigabyte.
 */
export function freed(array: Column): void {
  (array.buffer as ArrayBuffer).transfer(0);
}
