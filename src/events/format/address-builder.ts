import { invalidField } from '../../errors.ts';
import { compareAddress, ipv4Of } from '../../net/ip.ts';
import { AddressCache, knownAddresses } from './address-cache.ts';
import { AddressList, firstIpv4 } from './address-list.ts';
import { encodings } from './block-format.ts';
import type { AddressColumn } from './column-readers.ts';
import { Codes, coded } from './dictionary-codes.ts';
import { bytesOf, type EncodedColumn } from './encoded-column.ts';
import { encodeTallies } from './tallies.ts';

/**
 * Builds a column of addresses with a sorted dictionary, followed by the number of rows of each address. Two
 * spellings of an address share an entry.
 */
export class AddressBuilder {
  readonly #name: string;
  readonly #codes: Codes;
  /**
   * Block number and code of each known address, alternately. A code is valid only in the block in which it was
   * assigned.
   */
  #given = new Uint32Array(0);
  #turn = 1;
  #generation = 0;
  #count = 0;
  /** 16 bytes for each code, beginning with code 1. */
  #bytes = new Uint8Array(16 * 256);
  #last = '';
  #lastCode = 0;

  constructor(name: string, capacity: number) {
    this.#name = name;
    this.#codes = new Codes(capacity);
  }

  set(row: number, value: string): void {
    if (value !== this.#last || this.#lastCode === 0) {
      this.#lastCode = this.#code(value);
      this.#last = value;
    }
    this.#codes.values[row] = this.#lastCode;
  }

  /** Adds the source column's entries. Returns their codes in this block, by their codes in the source block. */
  translate(column: AddressColumn): Uint32Array {
    const table = new Uint32Array(column.list.length + 1);
    for (let i = 0; i < column.list.length; i++) {
      this.#reserve();
      column.list.write(i, this.#bytes, 16 * this.#count);
      table[i + 1] = ++this.#count;
    }
    return table;
  }

  copy(row: number, column: AddressColumn, sourceRow: number, table: Uint32Array): void {
    this.#codes.values[row] = table[column.code(sourceRow)]!;
  }

  grow(capacity: number): void {
    this.#codes.grow(capacity);
  }

  encode(rows: number): EncodedColumn {
    const missing = this.#codes.mark(rows, this.#count);
    const { order, dictionary, entries, ipv4 } = this.#sorted();
    const ends = () => {
      const list = new AddressList(dictionary, entries, ipv4);
      if (list.v4 !== undefined) return bytesOf(Uint32Array.of(list.v4[0]!, list.v4[entries - 1]!));
      const two = new Uint8Array(32);
      list.write(0, two, 0);
      list.write(entries - 1, two, 16);
      return two;
    };
    const column = coded(this.#codes, rows, missing, order, entries, dictionary, ends, false);
    const tail = encodeTallies(this.#codes.tallies(order, entries));
    const result = column.encoding === encodings.dictionary ? { ...column, tail, ipv4 } : column;
    this.#turn++;
    this.#count = 0;
    this.#last = '';
    this.#lastCode = 0;
    return result;
  }

  /**
   * Returns the dictionary in the format of `AddressList`, and for each code the index in the dictionary plus
   * one.
   */
  #sorted() {
    const bytes = this.#bytes;
    const { used } = this.#codes;
    const order = new Uint16Array(this.#count + 1);
    // Sort keys are numbers of 32 bits of address and 21 of code, so that sorting needs no comparison
    // function.
    const keys = new Float64Array(this.#count);
    let narrow = 0;
    const wideCodes: number[] = [];
    for (let code = 1; code <= this.#count; code++) {
      if (used[code] === 0) continue;
      const value = ipv4Of(bytes, 16 * (code - 1));
      if (value >= 0) keys[narrow++] = value * 2 ** 21 + code;
      else wideCodes.push(code);
    }
    const sorted = keys.subarray(0, narrow).sort();
    wideCodes.sort((a, b) => compareAddress(bytes, 16 * (a - 1), bytes, 16 * (b - 1)));

    let entries = 0;
    const wide = new Uint8Array(16 * wideCodes.length);
    let wideEnd = 0;
    const addWide = (code: number) => {
      const from = 16 * (code - 1);
      if (wideEnd === 0 || compareAddress(wide, wideEnd - 16, bytes, from) !== 0) {
        wide.set(bytes.subarray(from, from + 16), wideEnd);
        wideEnd += 16;
        entries++;
      }
      order[code] = entries;
    };
    const above = wideCodes.findIndex((code) => compareAddress(bytes, 16 * (code - 1), firstIpv4, 0) > 0);
    const low = above < 0 ? wideCodes.length : above;
    wideCodes.slice(0, low).forEach(addWide);
    const list = new Uint32Array(narrow);
    let ipv4 = 0;
    for (let i = 0; i < narrow; i++) {
      const value = Math.floor(sorted[i]! / 2 ** 21);
      if (ipv4 === 0 || list[ipv4 - 1] !== value) {
        list[ipv4++] = value;
        entries++;
      }
      order[sorted[i]! % 2 ** 21] = entries;
    }
    wideCodes.slice(low).forEach(addWide);

    const dictionary = new Uint8Array(wideEnd + 4 * ipv4);
    dictionary.set(wide.subarray(0, wideEnd));
    dictionary.set(bytesOf(list.subarray(0, ipv4)), wideEnd);
    return { order, dictionary, entries, ipv4: wideEnd === 0 ? 0 : ipv4 };
  }

  #code(value: string): number {
    const place = knownAddresses.place(value);
    if (place < 0) throw invalidField(this.#name, 'must be an IPv4 or IPv6 address');
    if (this.#generation !== knownAddresses.generation) this.#begin();
    if (this.#given[2 * place] === this.#turn) return this.#given[2 * place + 1]!;
    this.#reserve();
    const { bytes } = knownAddresses;
    for (let i = 0; i < 16; i++) this.#bytes[16 * this.#count + i] = bytes[16 * place + i]!;
    this.#given[2 * place] = this.#turn;
    this.#given[2 * place + 1] = ++this.#count;
    return this.#count;
  }

  /**
   * Discards the assigned codes when the cache has a new generation. An address may then get a second code in the
   * block, as an address with a second spelling does.
   */
  #begin(): void {
    if (this.#given.length === 0) this.#given = new Uint32Array(2 * AddressCache.most);
    this.#turn++;
    this.#generation = knownAddresses.generation;
  }

  #reserve(): void {
    if (16 * (this.#count + 1) <= this.#bytes.length) return;
    const bytes = new Uint8Array(2 * this.#bytes.length);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }
}
