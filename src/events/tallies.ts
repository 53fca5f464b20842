/**
 * How many rows have each entry of a dictionary of addresses: a byte for each, 255 where there are more than 254 rows.
 * Behind these bytes those entries are listed with their rows, ascending; and behind them, of the originators, those that
 * have rows to themselves, with these: u16 entry, u16 rows, little-endian. Half a byte a row for the addresses of a busy
 * site, and little more than one whatever they are; to count an address without it takes reading the codes of all rows.
 */
export class Tallies {
  readonly #bytes: Uint8Array;
  /** Where the list of the many begins, and that of those to themselves. */
  readonly #manyAt: number;
  readonly #toItselfAt: number;
  readonly #knowsItself: boolean;

  /** @param toItself - how many have rows to themselves, or `unknown` */
  constructor(bytes: Uint8Array, entries: number, toItself: number) {
    this.#bytes = bytes;
    this.#manyAt = entries;
    this.#knowsItself = toItself !== unknown;
    this.#toItselfAt = bytes.length - (this.#knowsItself ? pairBytes * toItself : 0);
  }

  /** Rows of the entries in [start, end); undefined where the tallies are not those of such a dictionary. */
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

  /** Rows from the entry to itself; undefined where nobody knows. */
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

/** In place of the number of addresses with rows to themselves, where these were not counted. */
export const unknown = 0xffff;

/** An entry and its rows, at most 65,535 each. */
export type Pair = readonly [entry: number, rows: number];

const many = 255;
const pairBytes = 4;

/** From the rows of each entry. */
export function encodeTallies(rows: Uint32Array): Uint8Array {
  const listed: Pair[] = [];
  const bytes = new Uint8Array(rows.length);
  for (let entry = 0; entry < rows.length; entry++) {
    bytes[entry] = Math.min(many, rows[entry]!);
    if (rows[entry]! >= many) listed.push([entry, rows[entry]!]);
  }
  return withPairs(bytes, listed);
}

/** The bytes, and the pairs behind them. */
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
