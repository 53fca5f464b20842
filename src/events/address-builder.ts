import { invalidField } from '../errors.ts';
import type { AddressColumn } from './column-readers.ts';
import { Codes, coded } from './dictionary-codes.ts';
import { bytesOf, type EncodedColumn } from './encoded-column.ts';
import { compareAddress, ipv4Of } from './ip.ts';
import { KnownAddresses, knownAddresses } from './known-addresses.ts';

/** Addresses by a sorted dictionary. An address in two spellings is one. */
export class AddressBuilder {
  readonly #name: string;
  readonly #codes: Codes;
  /** For each place among the known addresses its code, after the turn in which that was given: each block is a turn. */
  #given = new Uint32Array(0);
  #turn = 1;
  #generation = 0;
  #count = 0;
  /** 16 bytes for each code, the first for code 1. */
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

  /** Codes of the source column's entries here. */
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
    const bytes = this.#bytes;
    const count = this.#count;
    const missing = this.#codes.mark(rows, count);
    const { used } = this.#codes;
    let v4 = true;
    for (let code = 1; code <= count && v4; code++)
      if (used[code] === 1) v4 = ipv4Of(bytes, 16 * (code - 1)) >= 0;
    const order = new Uint16Array(count + 1);
    let dictionary: Uint8Array;
    let entries = 0;
    if (v4) {
      // Sorted as numbers, 32 bits of address and 21 of code: no comparison has to be called.
      const keys = new Float64Array(count);
      let n = 0;
      for (let code = 1; code <= count; code++) {
        if (used[code] === 1) keys[n++] = ipv4Of(bytes, 16 * (code - 1)) * 2 ** 21 + code;
      }
      const sorted = keys.subarray(0, n).sort();
      const list = new Uint32Array(n);
      for (let i = 0; i < n; i++) {
        const value = Math.floor(sorted[i]! / 2 ** 21);
        if (entries === 0 || list[entries - 1] !== value) list[entries++] = value;
        order[sorted[i]! % 2 ** 21] = entries;
      }
      dictionary = bytesOf(list.subarray(0, entries));
    } else {
      const codes = [];
      for (let code = 1; code <= count; code++) if (used[code] === 1) codes.push(code);
      codes.sort((a, b) => compareAddress(bytes, 16 * (a - 1), bytes, 16 * (b - 1)));
      const list = new Uint8Array(16 * codes.length);
      for (const code of codes) {
        const from = 16 * (code - 1);
        if (entries === 0 || compareAddress(list, 16 * (entries - 1), bytes, from) !== 0) {
          list.set(bytes.subarray(from, from + 16), 16 * entries++);
        }
        order[code] = entries;
      }
      dictionary = list.subarray(0, 16 * entries);
    }
    const width = v4 ? 4 : 16;
    const ends = () => {
      const two = new Uint8Array(2 * width);
      two.set(dictionary.subarray(0, width));
      two.set(dictionary.subarray(dictionary.length - width), width);
      return two;
    };
    const result = coded(this.#codes, rows, missing, order, entries, dictionary, ends, false);
    this.#turn++;
    this.#count = 0;
    this.#last = '';
    this.#lastCode = 0;
    return result;
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

  /** Addresses may get a second code in the block then, as second spellings do. */
  #begin(): void {
    if (this.#given.length === 0) this.#given = new Uint32Array(2 * KnownAddresses.most);
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
