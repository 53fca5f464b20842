import type { AddressList } from './address-list.ts';
import { encodings } from './block-format.ts';

export { AddressList } from './address-list.ts';

export type Codes = Uint8Array | Uint16Array;

/** Numbers, times, booleans and enums (as numbers) of one block. NaN means that the value is absent. */
export class NumberColumn {
  readonly encoding: number;
  /** The value of a `constant` column; for `offset`, the number added to a code. */
  readonly base: number;
  readonly values: Uint8Array | Uint16Array | Uint32Array | Float64Array | undefined;

  constructor(encoding: number, base: number, values?: Uint8Array | Uint16Array | Uint32Array | Float64Array) {
    this.encoding = encoding;
    this.base = base;
    this.values = values;
  }

  at(row: number): number {
    switch (this.encoding) {
      case encodings.offset: {
        const code = this.values![row]!;
        return code === 0 ? Number.NaN : this.base + code;
      }
      case encodings.float:
        return this.values![row]!;
      case encodings.constant:
        return this.base;
      default:
        return Number.NaN;
    }
  }
}

/** Texts in consecutive UTF-8. */
export class TextList {
  readonly length: number;
  readonly offsets: Uint32Array;
  readonly utf8: Buffer;
  readonly #texts: (string | undefined)[] = [];

  constructor(bytes: Uint8Array, length: number) {
    this.length = length;
    this.offsets = new Uint32Array(bytes.buffer, bytes.byteOffset, length === 0 ? 0 : length + 1);
    const start = this.offsets.byteLength;
    this.utf8 = Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.byteLength - start);
  }

  text(index: number): string {
    const known = this.#texts[index];
    if (known !== undefined) return known;
    const text = this.utf8.toString('utf8', this.offsets[index]!, this.offsets[index + 1]!);
    this.#texts[index] = text;
    return text;
  }

  /** Returns the index of the entry with the byte at this position of `utf8`; never an empty entry. */
  entryAt(place: number): number {
    let low = 0;
    let high = this.length;
    while (low + 1 < high) {
      const middle = (low + high) >>> 1;
      if (this.offsets[middle]! <= place) low = middle;
      else high = middle;
    }
    return low;
  }
}

/**
 * Addresses or texts of one block. The code of a row is 0 if the value is absent, otherwise the index of its
 * entry in the list plus 1. The code in a `constant` column is 1. In a `plain` column, a present value has the row
 * plus 1 as its code, and `codes` only marks present values.
 */
export class CodedColumn<List extends AddressList | TextList> {
  readonly encoding: number;
  readonly list: List;
  readonly codes: Codes | undefined;

  constructor(encoding: number, list: List, codes?: Codes) {
    this.encoding = encoding;
    this.list = list;
    this.codes = codes;
  }

  code(row: number): number {
    switch (this.encoding) {
      case encodings.dictionary:
        return this.codes![row]!;
      case encodings.plain:
        return this.codes === undefined || this.codes[row] !== 0 ? row + 1 : 0;
      case encodings.constant:
        return 1;
      default:
        return 0;
    }
  }

  text(row: number): string | undefined {
    const code = this.code(row);
    return code === 0 ? undefined : this.list.text(code - 1);
  }
}

export type AddressColumn = CodedColumn<AddressList>;
export type TextColumn = CodedColumn<TextList>;
