import { maxInlineBytes } from './block-format.ts';
import type { TextColumn } from './column-readers.ts';
import { Codes, coded } from './dictionary-codes.ts';
import { bytesOf, type EncodedColumn, none } from './encoded-column.ts';

/**
 * Builds a column of texts with a sorted dictionary. The dictionary is `compressed` for long texts that
 * queries seldom read.
 */
export class TextBuilder {
  readonly #codes: Codes;
  readonly #compressed: boolean;
  readonly #seen = new Map<string, number>();
  /** Texts in the order of their codes: the text of code n + 1 is at n. */
  #texts: string[] = [];
  #last = '';
  #lastCode = 0;

  constructor(capacity: number, compressed: boolean) {
    this.#codes = new Codes(capacity);
    this.#compressed = compressed;
  }

  set(row: number, value: string | undefined): void {
    if (value === undefined) {
      this.#codes.values[row] = 0;
      return;
    }
    if (value !== this.#last || this.#lastCode === 0) {
      this.#lastCode = this.#code(value);
      this.#last = value;
    }
    this.#codes.values[row] = this.#lastCode;
  }

  translate(column: TextColumn): Uint32Array {
    const table = new Uint32Array(column.list.length + 1);
    for (let i = 0; i < column.list.length; i++) table[i + 1] = this.#code(column.list.text(i));
    return table;
  }

  copy(row: number, column: TextColumn, sourceRow: number, table: Uint32Array): void {
    this.#codes.values[row] = table[column.code(sourceRow)]!;
  }

  grow(capacity: number): void {
    this.#codes.grow(capacity);
  }

  encode(rows: number): EncodedColumn {
    const count = this.#texts.length;
    const missing = this.#codes.mark(rows, count);
    const codes = [];
    for (let code = 1; code <= count; code++) if (this.#codes.used[code]! > 0) codes.push(code);
    const texts = this.#texts;
    codes.sort((a, b) => (texts[a - 1]! < texts[b - 1]! ? -1 : 1));
    const order = new Uint16Array(count + 1);
    const sorted = codes.map((code, rank) => {
      order[code] = rank + 1;
      return texts[code - 1]!;
    });
    const dictionary = encodeTexts(sorted);
    const ends = () => {
      const two = encodeTexts([sorted[0]!, sorted[sorted.length - 1]!]);
      return two.length <= maxInlineBytes ? two : none;
    };
    const result = coded(this.#codes, rows, missing, order, sorted.length, dictionary, ends, this.#compressed);
    this.#seen.clear();
    this.#texts = [];
    this.#last = '';
    this.#lastCode = 0;
    return result;
  }

  #code(value: string): number {
    let code = this.#seen.get(value);
    if (code === undefined) {
      code = this.#texts.push(value);
      this.#seen.set(value, code);
    }
    return code;
  }
}

const encoder = new TextEncoder();

/** Returns the offsets and the UTF-8 of texts. Lone surrogates become U+FFFD. */
function encodeTexts(texts: readonly string[]): Uint8Array {
  const offsets = new Uint32Array(texts.length + 1);
  let chars = 0;
  for (let i = 0; i < texts.length; i++) {
    chars += texts[i]!.length;
    offsets[i + 1] = chars;
  }
  // All texts are encoded in one call, because each call of TextEncoder takes 50 ns. Texts that are not ASCII
  // need more bytes than UTF-16 units.
  const start = offsets.byteLength;
  let bytes: Uint8Array = new Uint8Array(start + chars);
  const joined = texts.join('');
  const { read, written } = encoder.encodeInto(joined, bytes.subarray(start));
  if (read !== chars || written !== chars) {
    const parts = texts.map((text) => encoder.encode(text));
    let place = 0;
    parts.forEach((part, i) => {
      place += part.length;
      offsets[i + 1] = place;
    });
    bytes = new Uint8Array(start + place);
    parts.forEach((part, i) => void bytes.set(part, start + offsets[i]!));
  }
  bytes.set(bytesOf(offsets));
  return bytes;
}
