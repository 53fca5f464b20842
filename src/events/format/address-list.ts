import { compareAddress, ipv4Of, printAddress, printIpv4, writeIpv4 } from '../../net/ip.ts';
import type { Tallies } from './tallies.ts';

/**
 * Sorted addresses: all IPv4 as u32, or all as 16 bytes, or both. In a mixed list, addresses of 16 bytes are
 * stored before addresses of 4 bytes, and the order of the whole list is
 *
 * ```
 *   indices  0 … low                low … low + ipv4      low + ipv4 … length
 *   entries  IPv6 below ::ffff:0:0  IPv4                  other IPv6
 * ```
 */
export class AddressList {
  readonly length: number;
  /** IPv4 addresses as numbers, if all addresses are IPv4. */
  readonly v4: Uint32Array | undefined;
  /** The number of rows of each address, if the block has it. */
  readonly tallies: Tallies | undefined;
  /** Addresses with 16 bytes. */
  readonly #wide: Uint8Array;
  /** Addresses with 4 bytes. */
  readonly #narrow: Uint32Array;
  readonly #low: number;
  #bytes: Uint8Array | undefined;
  readonly #texts: (string | undefined)[] = [];

  /** @param ipv4 - number of addresses with 4 bytes if the list has addresses of both sizes, otherwise 0 */
  constructor(bytes: Uint8Array, length: number, ipv4 = 0, tallies?: Tallies) {
    this.length = length;
    this.tallies = tallies;
    const narrow = length > 0 && bytes.byteLength === 4 * length ? length : ipv4;
    const start = bytes.byteLength - 4 * narrow;
    this.#narrow = narrow === 0 ? noneNarrow : new Uint32Array(bytes.buffer, bytes.byteOffset + start, narrow);
    this.#wide = narrow === 0 ? bytes : bytes.subarray(0, start);
    this.v4 = narrow === length && length > 0 ? this.#narrow : undefined;
    this.#bytes = narrow === 0 || narrow === length ? bytes : undefined;
    this.#low = narrow === 0 ? 0 : this.#firstWide(firstIpv4, 0);
  }

  /** Returns 16 bytes for each address, or 4 bytes for each if all addresses are IPv4. */
  get bytes(): Uint8Array {
    if (this.#bytes === undefined) {
      this.#bytes = new Uint8Array(16 * this.length);
      for (let i = 0; i < this.length; i++) this.write(i, this.#bytes, 16 * i);
    }
    return this.#bytes;
  }

  text(index: number): string {
    const known = this.#texts[index];
    if (known !== undefined) return known;
    const value = this.ipv4(index);
    const text = value < 0 ? printAddress(this.#wide, 16 * this.#wideAt(index)) : printIpv4(value);
    this.#texts[index] = text;
    return text;
  }

  write(index: number, out: Uint8Array, offset: number): void {
    const value = this.ipv4(index);
    if (value >= 0) writeIpv4(value, out, offset);
    else {
      const from = 16 * this.#wideAt(index);
      for (let i = 0; i < 16; i++) out[offset + i] = this.#wide[from + i]!;
    }
  }

  /** Returns the value of an IPv4 address; −1 for an IPv6 address. */
  ipv4(index: number): number {
    const place = index - this.#low;
    return place >= 0 && place < this.#narrow.length ? this.#narrow[place]! : this.#mapped(index);
  }

  /** Returns the index of the first entry that is not below the address. */
  firstNotBelow(address: Uint8Array): number {
    const value = this.#narrow.length === 0 ? -1 : ipv4Of(address);
    if (value >= 0) return this.#low + firstFrom(this.#narrow, value);
    return this.#placeOfWide(address, 0);
  }

  /** Returns the index of the first entry above the address. */
  firstAbove(address: Uint8Array): number {
    const value = this.#narrow.length === 0 ? -1 : ipv4Of(address);
    if (value >= 0) return this.#low + firstFrom(this.#narrow, value + 1);
    return this.#placeOfWide(address, 1);
  }

  /** Returns the index of the address, or −1. */
  placeOf(address: Uint8Array): number {
    const place = this.firstNotBelow(address);
    return place < this.length && place < this.firstAbove(address) ? place : -1;
  }

  /** Returns the value of an IPv4 address in a list with 16 bytes for every address. */
  #mapped(index: number): number {
    return this.#narrow.length === 0 ? ipv4Of(this.#wide, 16 * index) : -1;
  }

  /** Converts an index in the list to an index among the addresses of 16 bytes. */
  #wideAt(index: number): number {
    return index < this.#low ? index : index - this.#narrow.length;
  }

  /**
   * Returns the result of `#firstWide` as an index in the whole list. The address must not be IPv4, unless
   * all addresses have 16 bytes.
   */
  #placeOfWide(address: Uint8Array, behind: 0 | 1): number {
    const place = this.#firstWide(address, behind);
    return compareAddress(address, 0, firstIpv4, 0) < 0 ? place : place + this.#narrow.length;
  }

  /**
   * Returns the index of the first address of 16 bytes that is not below the address or, if `behind` is 1, above the
   * address.
   */
  #firstWide(address: Uint8Array, behind: 0 | 1): number {
    let low = 0;
    let high = this.#wide.length / 16;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareAddress(this.#wide, 16 * middle, address, 0) < behind) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * Compares entries of two lists: negative, 0 or positive if the first sorts before, equals or sorts after the
 * second.
 */
export function compareEntries(a: AddressList, i: number, b: AddressList, j: number): number {
  const one = a.ipv4(i);
  const two = b.ipv4(j);
  if (one >= 0 && two >= 0) return one - two;
  a.write(i, left, 0);
  b.write(j, right, 0);
  return compareAddress(left, 0, right, 0);
}

/** Returns the index of the first number that is not below the value. */
function firstFrom(sorted: Uint32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first IPv4 address in 16 bytes: ::ffff:0:0. */
export const firstIpv4 = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0);
const noneNarrow = new Uint32Array(0);
const left = new Uint8Array(16);
const right = new Uint8Array(16);
