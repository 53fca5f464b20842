import { BlockHeader } from '../../events/block-format.ts';
import { tables } from '../../events/columns.ts';
import type { Table } from '../../events/records.ts';
import { limits } from '../../limits.ts';

/**
 * Headers of blocks that were looked at, in memory of a fixed size: reading one from the database takes 2 µs, finding it
 * here 0.3. A block has one place, which it takes over from another; so of more blocks than there are places, some are still
 * found each time that all are looked at in turn. What a merge or retention took away stays until others come.
 */
export class KeptHeaders {
  readonly #places: number;
  /** Taken when the first is kept. */
  #bytes = new Uint8Array(0);
  #headers: (BlockHeader | undefined)[] = [];
  /** Sequences, by place; with a fraction for DNS. 0 where free. */
  #keys = new Float64Array(0);

  /** @param places - a power of two from 2 on */
  constructor(places: number = limits.keptHeaders) {
    this.#places = places;
  }

  /** Of the headers, kept or not. */
  get byteLength(): number {
    return this.#bytes.byteLength;
  }

  /** The header that was kept last for the block that begins there; good until one is kept again. */
  get(table: Table, firstSeq: number): BlockHeader | undefined {
    const key = keyOf(table, firstSeq);
    const place = this.#placeOf(key);
    return this.#keys[place] === key ? this.#headers[place] : undefined;
  }

  /** Keeps a copy; undefined for one that is longer than `limits.maxKeptHeaderBytes`. */
  put(table: Table, firstSeq: number, bytes: Uint8Array): BlockHeader | undefined {
    const { length } = bytes;
    if (length > limits.maxKeptHeaderBytes) return undefined;
    if (this.#keys.length === 0) {
      this.#keys = new Float64Array(this.#places);
      this.#headers = new Array<BlockHeader | undefined>(this.#places).fill(undefined);
      this.#bytes = new Uint8Array(this.#places * limits.maxKeptHeaderBytes);
    }
    const key = keyOf(table, firstSeq);
    const place = this.#placeOf(key);
    const from = place * limits.maxKeptHeaderBytes;
    const copy = this.#bytes.subarray(from, from + length);
    copy.set(new Uint8Array(bytes.buffer, bytes.byteOffset, length));
    const header = new BlockHeader(copy);
    this.#keys[place] = key;
    this.#headers[place] = header;
    return header;
  }

  /** Fibonacci hashing: sequences of blocks lie at similar distances. */
  #placeOf(key: number): number {
    return Math.imul(2 * key, 0x9e3779b1) >>> (Math.clz32(this.#places) + 1);
  }
}

const keyOf = (table: Table, firstSeq: number): number => firstSeq + tables.indexOf(table) / 2;
