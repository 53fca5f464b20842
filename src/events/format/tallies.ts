/**
 * The number of rows of each address in a dictionary: one byte per address, 255 for more than 254 rows. The bytes are
 * followed by the entries with more than 254 rows and their numbers of rows, ascending. For source addresses, the last
 * part lists the entries with rows that have the same address at both ends, and the number of these rows. Both lists
 * consist of u16 entry and u16 rows, little-endian. Tallies take half a byte per row at a busy site, and little more
 * than one byte in the worst case. Without tallies, counting an address requires the codes of all rows.
 */
export class Tallies {
  readonly #bytes: Uint8Array;
  /** Offset of the list of entries with more than 254 rows. */
  readonly #manyAt: number;
  /** Offset of the list of entries with rows that have the same address at both ends. */
  readonly #toItselfAt: number;
  readonly #knowsItself: boolean;

  /** @param toItself - number of entries with rows that have the same address at both ends, or `unknown` */
  constructor(bytes: Uint8Array, entries: number, toItself: number) {
    this.#bytes = bytes;
    this.#manyAt = entries;
    this.#knowsItself = toItself !== unknown;
    this.#toItselfAt = bytes.length - (this.#knowsItself ? pairBytes * toItself : 0);
  }

  /**
   * Returns the number of rows of the entries in [start, end); undefined if the tallies do not fit the
   * dictionary.
   */
  rows(start: number, end: number): number | undefined {
    let sum = 0;
    for (let entry = start; entry < end; entry++) {
      const byte = this.#bytes[entry]!;
      const rows = byte < many ? byte : this.#listed(entry, this.#manyAt, this.#toItselfAt);
      if (rows === undefined) return undefined;
      sum += rows;
    }
    return sum;
  }

  /** Returns the number of rows that have the entry at both ends; undefined if this number was not counted. */
  toItself(entry: number): number | undefined {
    if (!this.#knowsItself) return undefined;
    return this.#listed(entry, this.#toItselfAt, this.#bytes.length) ?? 0;
  }

  #listed(entry: number, from: number, to: number): number | undefined {
    const bytes = this.#bytes;
    for (let at = from; at + pairBytes <= to; at += pairBytes)
      if (readU16(bytes, at) === entry) return readU16(bytes, at + 2);
    return undefined;
  }
}

/**
 * Stored instead of the number of entries with rows that have the same address at both ends, if that number was not
 * counted.
 */
export const unknown = 0xffff;

/** An entry and its number of rows, at most 65,535 each. */
export type Pair = readonly [entry: number, rows: number];

const many = 255;
const pairBytes = 4;

/** Encodes the number of rows of each entry. */
export function encodeTallies(rows: Uint32Array): Uint8Array {
  const listed: Pair[] = [];
  const bytes = new Uint8Array(rows.length);
  for (let entry = 0; entry < rows.length; entry++) {
    bytes[entry] = Math.min(many, rows[entry]!);
    if (rows[entry]! >= many) listed.push([entry, rows[entry]!]);
  }
  return withPairs(bytes, listed);
}

/** Returns the bytes with the pairs appended. */
export function withPairs(bytes: Uint8Array, pairs: readonly Pair[]): Uint8Array {
  if (pairs.length === 0) return bytes;
  const all = new Uint8Array(bytes.length + pairBytes * pairs.length);
  all.set(bytes);
  let at = bytes.length;
  for (const [entry, rows] of pairs) {
    writeU16(all, at, entry);
    writeU16(all, at + 2, rows);
    at += pairBytes;
  }
  return all;
}

const readU16 = (bytes: Uint8Array, at: number): number => bytes[at]! | (bytes[at + 1]! << 8);

function writeU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
}
