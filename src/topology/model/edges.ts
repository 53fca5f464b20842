import { maxPorts, maxProtocols } from '../../contract/vocabulary.ts';
import { limits } from '../../limits.ts';
import { grown } from '../../sketch/grown.ts';
import { finish } from '../../sketch/hash.ts';
import { Nodes, roomFor } from './nodes.ts';

/**
 * Bucket of flows whose times are so far ahead that the flows get no hour and no day. These flows are only in
 * the graph of all time.
 */
export const noHour = 0xffffffff;

/** Maximum of sums of bytes and of connections. Capped sums do not depend on the order of adding. */
export const most = limits.maxSummedBytes;

/**
 * Edges between network blocks, one per time bucket. All fields of an edge can be merged in any order: sums,
 * minima, maxima, and bounded sets.
 */
export class Edges {
  readonly nodes: Nodes;
  /** Names of protocols; rows contain their indices. */
  readonly texts: string[] = [];
  count = 0;
  bucket: Uint32Array<ArrayBuffer>;
  source: Uint32Array<ArrayBuffer>;
  target: Uint32Array<ArrayBuffer>;
  connections: Float64Array<ArrayBuffer>;
  bytes: Float64Array<ArrayBuffer>;
  first: Float64Array<ArrayBuffer>;
  last: Float64Array<ArrayBuffer>;
  portCount: Uint8Array<ArrayBuffer>;
  ports: Uint16Array<ArrayBuffer>;
  protocolCount: Uint8Array<ArrayBuffer>;
  protocols: Uint32Array<ArrayBuffer>;
  readonly #seed: number;
  readonly #places = new Map<string, number>();
  #slots: Int32Array<ArrayBuffer>;
  #lastText = '';
  #lastPlace = -1;

  /**
   * @param seed - see `Nodes`
   * @param rows - initial capacity
   */
  constructor(seed = 0, nodes = new Nodes(seed), rows = 0) {
    this.#seed = seed;
    this.nodes = nodes;
    const room = roomFor(rows);
    this.bucket = new Uint32Array(room);
    this.source = new Uint32Array(room);
    this.target = new Uint32Array(room);
    this.connections = new Float64Array(room);
    this.bytes = new Float64Array(room);
    this.first = new Float64Array(room);
    this.last = new Float64Array(room);
    this.portCount = new Uint8Array(room);
    this.ports = new Uint16Array(maxPorts * room);
    this.protocolCount = new Uint8Array(room);
    this.protocols = new Uint32Array(maxProtocols * room);
    this.#slots = new Int32Array(2 * room).fill(-1);
  }

  /** Returns the row of an edge in a bucket. Adds an empty row for a new edge. */
  row(bucket: number, source: number, target: number): number {
    const slot = this.#slotOf(bucket, source, target);
    const row = this.#slots[slot]!;
    return row < 0 ? this.#insert(slot, bucket, source, target) : row;
  }

  /** Returns the row of an edge, or -1. */
  find(bucket: number, source: number, target: number): number {
    return this.#slots[this.#slotOf(bucket, source, target)]!;
  }

  add(row: number, connections: number, bytes: number, first: number, last: number): void {
    this.connections[row] = Math.min(most, this.connections[row]! + connections);
    this.bytes[row] = Math.min(most, this.bytes[row]! + bytes);
    if (first < this.first[row]!) this.first[row] = first;
    if (last > this.last[row]!) this.last[row] = last;
  }

  addPort(row: number, port: number): void {
    const { ports } = this;
    const count = this.portCount[row]!;
    const start = row * maxPorts;
    if (count === maxPorts && port > ports[start + maxPorts - 1]!) return;
    let place = start + count;
    while (place > start && ports[place - 1]! > port) place--;
    if (place > start && ports[place - 1] === port) return;
    ports.copyWithin(place + 1, place, start + Math.min(count, maxPorts - 1));
    ports[place] = port;
    if (count < maxPorts) this.portCount[row] = count + 1;
  }

  /** @param protocol - an index of `texts` */
  addProtocol(row: number, protocol: number): void {
    const { protocols, texts } = this;
    const count = this.protocolCount[row]!;
    const start = row * maxProtocols;
    for (let i = start; i < start + count; i++) if (protocols[i] === protocol) return;
    const text = texts[protocol]!;
    let place = start + count;
    while (place > start && texts[protocols[place - 1]!]! > text) place--;
    if (place === start + maxProtocols) return;
    protocols.copyWithin(place + 1, place, start + Math.min(count, maxProtocols - 1));
    protocols[place] = protocol;
    if (count < maxProtocols) this.protocolCount[row] = count + 1;
  }

  /** Returns the index of a protocol's name. */
  text(name: string): number {
    if (name === this.#lastText && this.#lastPlace >= 0) return this.#lastPlace;
    let place = this.#places.get(name);
    if (place === undefined) {
      place = this.texts.push(name) - 1;
      this.#places.set(name, place);
    }
    this.#lastText = name;
    this.#lastPlace = place;
    return place;
  }

  /** Returns the slot of an edge, or the free slot for a new edge. */
  #slotOf(bucket: number, source: number, target: number): number {
    const mask = this.#slots.length - 1;
    const hash = finish(Math.imul(source, 0x9e3779b1) ^ Math.imul(bucket, 0x85ebca6b) ^ finish(target ^ this.#seed));
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot]!;
      if (row < 0) return slot;
      if (this.source[row] === source && this.target[row] === target && this.bucket[row] === bucket >>> 0) return slot;
    }
  }

  #insert(slot: number, bucket: number, source: number, target: number): number {
    const row = this.count++;
    this.bucket[row] = bucket;
    this.source[row] = source;
    this.target[row] = target;
    this.first[row] = Number.POSITIVE_INFINITY;
    this.last[row] = Number.NEGATIVE_INFINITY;
    this.#slots[slot] = row;
    if (2 * this.count >= this.#slots.length) this.#grow();
    return row;
  }

  #grow(): void {
    for (const name of ['bucket', 'source', 'target', 'protocols'] as const) this[name] = grown(this[name]);
    for (const name of ['connections', 'bytes', 'first', 'last'] as const) this[name] = grown(this[name]);
    for (const name of ['portCount', 'protocolCount'] as const) this[name] = grown(this[name]);
    this.ports = grown(this.ports);
    this.#slots = grown(this.#slots).fill(-1);
    const { bucket, source, target } = this;
    for (let row = 0; row < this.count; row++)
      this.#slots[this.#slotOf(bucket[row]!, source[row]!, target[row]!)] = row;
  }
}
