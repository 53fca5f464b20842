import { compareAddress, ipv4Of, printAddress, printIpv4, writeIpv4 } from './ip.ts';
import type { Tallies } from './tallies.ts';

/**
 * Sorted addresses: all IPv4 as u32, or all as 16 bytes, or both: then those of 16 bytes lie before those of IPv4, and
 * are in the order of all
 *
 * ```
 *   places   0 … low                low … low + ipv4      low + ipv4 … length
 *   entries  IPv6 below ::ffff:0:0  IPv4                  other IPv6
 * ```
 */
export class AddressList {
  readonly length: number;
  /** Where all are IPv4. */
  readonly v4: Uint32Array | undefined;
  /** The rows of each, where the block keeps them. */
  readonly tallies: Tallies | undefined;
  /** Those of 16 bytes, and those of IPv4. */
  readonly #wide: Uint8Array;
  readonly #narrow: Uint32Array;
  readonly #low: number;
  #bytes: Uint8Array | undefined;
  readonly #texts: (string | undefined)[] = [];

  /** @param ipv4 - how many of them are of 4 bytes where others are of 16, else 0 */
  constructor(bytes: Uint8Array, length: number, ipv4 = 0, tallies?: Tallies) {
    this.length = length;
    this.tallies = tallies;
    const narrow = length > 0 && bytes.byteLength === 4 * length ? length : ipv4;
    const start = bytes.byteLength - 4 * narrow;
    this.#narrow =
      narrow === 0 ? noneNarrow : new Uint32Array(bytes.buffer, bytes.byteOffset + start, narrow);
    this.#wide = narrow === 0 ? bytes : bytes.subarray(0, start);
    this.v4 = narrow === length && length > 0 ? this.#narrow : undefined;
    this.#bytes = narrow === 0 || narrow === length ? bytes : undefined;
    this.#low = narrow === 0 ? 0 : this.#firstWide(firstIpv4, 0);
  }

  /** 16 bytes for each, or 4 where all are IPv4. */
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

  /** The value of an IPv4 address, −1 of any other. */
  ipv4(index: number): number {
    const place = index - this.#low;
    return place >= 0 && place < this.#narrow.length ? this.#narrow[place]! : this.#mapped(index);
  }

  /** Place of the first entry that is not below the address. */
  firstNotBelow(address: Uint8Array): number {
    const value = this.#narrow.length === 0 ? -1 : ipv4Of(address);
    if (value >= 0) return this.#low + firstFrom(this.#narrow, value);
    return this.#placeOfWide(address, 0);
  }

  /** Place of the first entry above the address. */
  firstAbove(address: Uint8Array): number {
    const value = this.#narrow.length === 0 ? -1 : ipv4Of(address);
    if (value >= 0) return this.#low + firstFrom(this.#narrow, value + 1);
    return this.#placeOfWide(address, 1);
  }

  /** Place of the address, or −1. */
  placeOf(address: Uint8Array): number {
    const place = this.firstNotBelow(address);
    return place < this.length && place < this.firstAbove(address) ? place : -1;
  }

  /** In a list that has all in 16 bytes, IPv4 addresses are among these. */
  #mapped(index: number): number {
    return this.#narrow.length === 0 ? ipv4Of(this.#wide, 16 * index) : -1;
  }

  /** Place among those of 16 bytes. */
  #wideAt(index: number): number {
    return index < this.#low ? index : index - this.#narrow.length;
  }

  /** What `#firstWide` finds, by its place among all; the address is not IPv4, or all are of 16 bytes. */
  #placeOfWide(address: Uint8Array, behind: 0 | 1): number {
    const place = this.#firstWide(address, behind);
    return compareAddress(address, 0, firstIpv4, 0) < 0 ? place : place + this.#narrow.length;
  }

  /** Of those of 16 bytes the first that is not below the address, or, with 1 for `behind`, above it. */
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

/** Below 0, 0 or above it as the entry of one list sorts before, with or behind that of the other. */
export function compareEntries(a: AddressList, i: number, b: AddressList, j: number): number {
  const one = a.ipv4(i);
  const two = b.ipv4(j);
  if (one >= 0 && two >= 0) return one - two;
  a.write(i, left, 0);
  b.write(j, right, 0);
  return compareAddress(left, 0, right, 0);
}

/** Place of the first that is not below the value. */
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

/** ::ffff:0:0 */
export const firstIpv4 = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0);
const noneNarrow = new Uint32Array(0);
const left = new Uint8Array(16);
const right = new Uint8Array(16);
