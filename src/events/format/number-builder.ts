import { invalidField } from '../../errors.ts';
import { encodings } from './block-format.ts';
import type { NumberColumn } from './column-readers.ts';
import { absent, bytesOf, type EncodedColumn } from './encoded-column.ts';

/** Collects the values of one column for the rows of a block. Arrays are reused from block to block. */
export class NumberBuilder {
  readonly #name: string;
  readonly #least: number;
  readonly #most: number;
  readonly #whole: boolean;
  #values: Float64Array<ArrayBuffer>;

  constructor(name: string, capacity: number, least: number, most: number, whole = false) {
    this.#name = name;
    this.#whole = whole;
    this.#least = least;
    this.#most = most;
    this.#values = new Float64Array(capacity);
  }

  set(row: number, value: number | undefined): void {
    if (value === undefined) this.#values[row] = Number.NaN;
    else {
      if (!(value >= this.#least && value <= this.#most) || (this.#whole && value !== Math.floor(value))) {
        throw invalidField(
          this.#name,
          `must be a ${this.#whole ? 'whole ' : ''}number from ${this.#least} to ${this.#most}, not ${value}`,
        );
      }
      this.#values[row] = value;
    }
  }

  setFlag(row: number, value: boolean | undefined): void {
    this.#values[row] = value === undefined ? Number.NaN : value ? 1 : 0;
  }

  copy(row: number, column: NumberColumn, sourceRow: number): void {
    this.#values[row] = column.at(sourceRow);
  }

  grow(capacity: number): void {
    const values = new Float64Array(capacity);
    values.set(this.#values);
    this.#values = values;
  }

  encode(rows: number): EncodedColumn {
    const values = this.#values;
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    let present = 0;
    let whole = true;
    for (let i = 0; i < rows; i++) {
      const value = values[i]!;
      if (Number.isNaN(value)) continue;
      present++;
      if (value < min) min = value;
      if (value > max) max = value;
      if (whole && Math.floor(value) !== value) whole = false;
    }
    if (present === 0) return absent;
    // Negative zero becomes zero, because `min` does not distinguish the two zeros.
    min += 0;
    if (min === max && present === rows) return { ...absent, encoding: encodings.constant, min, max };
    const range = max - min;
    if (whole && max <= Number.MAX_SAFE_INTEGER && min >= Number.MIN_SAFE_INTEGER && range < 2 ** 32 - 1) {
      const codes = range < 255 ? new Uint8Array(rows) : range < 65_535 ? new Uint16Array(rows) : new Uint32Array(rows);
      const base = min - 1;
      for (let i = 0; i < rows; i++) {
        const value = values[i]!;
        codes[i] = Number.isNaN(value) ? 0 : value - base;
      }
      return {
        ...absent,
        encoding: encodings.offset,
        width: codes.BYTES_PER_ELEMENT,
        codes: bytesOf(codes),
        min,
        max,
      };
    }
    return {
      ...absent,
      encoding: encodings.float,
      width: 8,
      codes: bytesOf(values.subarray(0, rows)),
      min,
      max,
    };
  }
}

/** Stores the index of each value in the list of allowed values. */
export class EnumBuilder extends NumberBuilder {
  readonly #field: string;
  readonly #values: readonly string[];
  readonly #places: ReadonlyMap<string, number>;
  #last: string | undefined;
  #lastPlace = 0;

  constructor(name: string, capacity: number, values: readonly string[]) {
    super(name, capacity, 0, values.length - 1);
    this.#field = name;
    this.#values = values;
    this.#places = new Map(values.map((value, place) => [value, place]));
  }

  setText(row: number, value: string | undefined): void {
    if (value === undefined) return this.set(row, undefined);
    if (value !== this.#last) {
      const place = this.#places.get(value);
      if (place === undefined) throw invalidField(this.#field, `must be one of ${this.#values.join(', ')}`);
      this.#last = value;
      this.#lastPlace = place;
    }
    this.set(row, this.#lastPlace);
  }
}
