import { tables } from '../../events/columns.ts';
import type { Table } from '../../events/records.ts';
import { limits } from '../../limits.ts';
import { StoredHeader } from './stored-header.ts';

/**
 * Headers of blocks that were looked at, in memory of a fixed size: reading one from the database takes 2 µs, finding it
 * here 0.3. A block has one place, which it takes over from another; so of more blocks than there are places, some are still
 * found each time that all are looked at in turn. What a merge or retention took away stays until others come.
 */
export class KeptHeaders {
  readonly #places: number;
  /** Taken when the first is kept. */
  #bytes = new Uint8Array(0);
  #headers: (StoredHeader | undefined)[] = [];
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
  get(table: Table, firstSeq: number): StoredHeader | undefined {
    const key = keyOf(table, firstSeq);
    const place = this.#placeOf(key);
    return this.#keys[place] === key ? this.#headers[place] : undefined;
  }

  /** Keeps a copy, unless it is longer than `limits.maxKeptHeaderBytes`. @returns the copy, or the header itself */
  put(table: Table, firstSeq: number, header: StoredHeader): StoredHeader {
    const { value } = header;
    const { length } = value;
    if (length > limits.maxKeptHeaderBytes) return header;
    if (this.#keys.length === 0) {
      this.#keys = new Float64Array(this.#places);
      this.#headers = new Array<StoredHeader | undefined>(this.#places).fill(undefined);
      this.#bytes = new Uint8Array(this.#places * limits.maxKeptHeaderBytes);
    }
    const key = keyOf(table, firstSeq);
    const place = this.#placeOf(key);
    const from = place * limits.maxKeptHeaderBytes;
    const copy = this.#bytes.subarray(from, from + length);
    copy.set(value);
    const kept = new StoredHeader(copy);
    this.#keys[place] = key;
    this.#headers[place] = kept;
    return kept;
  }

  /** Fibonacci hashing: sequences of blocks lie at similar distances. */
  #placeOf(key: number): number {
    return Math.imul(2 * key, 0x9e3779b1) >>> (Math.clz32(this.#places) + 1);
  }
}

const keyOf = (table: Table, firstSeq: number): number => firstSeq + tables.indexOf(table) / 2;
