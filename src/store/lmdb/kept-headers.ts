import { tables } from '../../events/columns.ts';
import type { Table } from '../../events/records.ts';
import { limits } from '../../limits.ts';
import { StoredHeader } from './stored-header.ts';

/**
 * Fixed-size cache of block headers: reading one from the database takes 2 µs, from here 0.3 µs. A header has
 * one slot and evicts another from it; so if there are more blocks than slots, a scan of all blocks in turn
 * still finds some. Headers of blocks that a merge or retention removed stay until they are evicted.
 */
export class KeptHeaders {
  readonly #places: number;
  /** Allocated on first use. */
  #bytes = new Uint8Array(0);
  #headers: (StoredHeader | undefined)[] = [];
  /** Sequences, by slot, plus a fraction for DNS. 0 if the slot is free. */
  #keys = new Float64Array(0);

  /** @param places - a power of two, at least 2 */
  constructor(places: number = limits.keptHeaders) {
    this.#places = places;
  }

  /** Size of the allocated memory. */
  get byteLength(): number {
    return this.#bytes.byteLength;
  }

  /** Returns the header cached for the block that begins there; valid until the next `put`. */
  get(table: Table, firstSeq: number): StoredHeader | undefined {
    const key = keyOf(table, firstSeq);
    const place = this.#placeOf(key);
    return this.#keys[place] === key ? this.#headers[place] : undefined;
  }

  /**
   * Caches a copy, unless it is longer than `limits.maxKeptHeaderBytes`. @returns the copy, or else the
   * header itself
   */
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

  /** Fibonacci hashing, because sequences of blocks have similar distances. */
  #placeOf(key: number): number {
    return Math.imul(2 * key, 0x9e3779b1) >>> (Math.clz32(this.#places) + 1);
  }
}

const keyOf = (table: Table, firstSeq: number): number => firstSeq + tables.indexOf(table) / 2;
