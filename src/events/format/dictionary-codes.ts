import { constants, zstdCompressSync } from 'node:zlib';
import { encodings, maxInlineBytes } from './block-format.ts';
import { absent, bytesOf, type EncodedColumn, none } from './encoded-column.ts';

/**
 * Codes of rows, which refer to entries in order of first use. Shared by the builders of addresses and texts.
 */
export class Codes {
  /** Codes of the rows. They have 32 bits, because rows that failed during insertion leave unused entries. */
  values: Uint32Array<ArrayBuffer>;
  /** Number of rows of each code. An entry left by a failed row may have no rows. */
  used = new Uint32Array(0);

  constructor(capacity: number) {
    this.values = new Uint32Array(capacity);
  }

  grow(capacity: number): void {
    const values = new Uint32Array(capacity);
    values.set(this.values);
    this.values = values;
  }

  /** Counts the rows of each code; returns the number of rows without a value. */
  mark(rows: number, entries: number): number {
    if (this.used.length <= entries) this.used = new Uint32Array(Math.max(1024, 2 * entries));
    else this.used.fill(0, 0, entries + 1);
    const { used, values } = this;
    for (let i = 0; i < rows; i++) used[values[i]!]!++;
    return used[0]!;
  }

  /** Returns the number of rows of each entry. `order` is as for `ranked`. */
  tallies(order: Uint16Array, entries: number): Uint32Array {
    const rows = new Uint32Array(entries);
    for (let code = 1; code < order.length; code++)
      if (this.used[code]! > 0) rows[order[code]! - 1]! += this.used[code]!;
    return rows;
  }

  /** Returns the codes by rank: `order[code]` is a rank from 1; code 0 remains 0. */
  ranked(rows: number, order: Uint16Array, entries: number): Uint8Array | Uint16Array {
    const codes = entries < 256 ? new Uint8Array(rows) : new Uint16Array(rows);
    for (let i = 0; i < rows; i++) codes[i] = order[this.values[i]!]!;
    return codes;
  }
}

/** Returns the column of codes and a sorted dictionary in the form with the fewest bytes. */
export function coded(
  codes: Codes,
  rows: number,
  missing: number,
  order: Uint16Array,
  entries: number,
  dictionary: Uint8Array,
  ends: () => Uint8Array,
  compress: boolean,
): EncodedColumn {
  if (entries === 0) return absent;
  const small = dictionary.length <= maxInlineBytes;
  if (entries === 1 && missing === 0) {
    return small
      ? { ...absent, encoding: encodings.constant, entries, inline: dictionary }
      : { ...absent, encoding: encodings.constant, entries, dictionary };
  }
  const ranked = codes.ranked(rows, order, entries);
  const compressed = compress && !small;
  return {
    ...absent,
    encoding: encodings.dictionary,
    width: ranked.BYTES_PER_ELEMENT,
    compressed,
    codes: bytesOf(ranked),
    dictionary: small ? none : compressed ? zstdCompressSync(dictionary, zstdLevel) : dictionary,
    entries,
    inline: small ? dictionary : ends(),
  };
}

const zstdLevel = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
