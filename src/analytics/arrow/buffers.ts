/**
 * The buffers of one column in a record batch (Arrow Columnar Format 1.5, "Physical memory layout"): little
 * endian, like all supported processors.
 */
import type { ArrowColumn, ArrowKind, ColumnValues } from './columns.ts';

/** A column, or an inner node of a column. */
export interface ArrowNode {
  readonly length: number;
  readonly nulls: number;
}

export interface ArrowData {
  /** The column, followed by its inner nodes. */
  readonly nodes: readonly ArrowNode[];
  /** The buffers of the nodes, in the order of the nodes. */
  readonly buffers: readonly ArrayBufferView[];
  /**
   * For a column of words, the distinct words; the column contains their indices, from 0. Absent for other kinds.
   */
  readonly dictionary?: readonly string[];
}

/**
 * Returns the data of a column. @throws Error for a value that is not of the column's kind; the API schema
 * excludes such values
 */
export function columnData(column: ArrowColumn, values: ColumnValues): ArrowData {
  const { validity, nulls } = validityOf(values);
  if (nulls > 0 && !column.nullable) throw new Error(`${column.name}: missing in ${nulls} of ${values.length} items`);
  const { inner = [], buffers, dictionary } = writers[column.kind](values, column.name);
  return {
    nodes: [{ length: values.length, nulls }, ...inner],
    buffers: [validity, ...buffers],
    ...(dictionary === undefined ? {} : { dictionary }),
  };
}

/** Returns the data of texts without nulls, such as dictionaries. */
export function textData(texts: readonly string[]): ArrowData {
  return { nodes: [{ length: texts.length, nulls: 0 }], buffers: [new Uint8Array(), ...textBuffers(texts)] };
}

type Written = {
  readonly buffers: readonly ArrayBufferView[];
  readonly inner?: readonly ArrowNode[];
  readonly dictionary?: readonly string[];
};

const writers: { readonly [Kind in ArrowKind]: (values: ColumnValues, name: string) => Written } = {
  text: (values) => ({ buffers: textBuffers(values as readonly (string | undefined)[]) }),
  json: (values) => ({ buffers: textBuffers(values as readonly (string | undefined)[]) }),
  word: (values) => words(values as readonly (string | undefined)[]),
  texts: (values) => textLists(values as readonly (readonly string[] | undefined)[]),
  time: (values, name) => ({ buffers: [longs(values, (value) => timeOf(value, name))] }),
  flag: (values) => ({ buffers: [bits(values, (value) => value === true).bits] }),
  real: (values) => ({ buffers: [numbers(new Float64Array(values.length), values)] }),
  int64: (values) => ({ buffers: [longs(values, integerOf)] }),
  uint8: (values) => ({ buffers: [numbers(new Uint8Array(values.length), values)] }),
  uint16: (values) => ({ buffers: [numbers(new Uint16Array(values.length), values)] }),
  uint32: (values) => ({ buffers: [numbers(new Uint32Array(values.length), values)] }),
};

/** Returns one bit per value, the first in the lowest bit of its byte; empty if all values are present. */
function validityOf(values: ColumnValues): { readonly validity: Uint8Array; readonly nulls: number } {
  const { bits: validity, set } = bits(values, (value) => value !== undefined);
  const nulls = values.length - set;
  return { validity: nulls === 0 ? new Uint8Array() : validity, nulls };
}

function bits(values: ColumnValues, isSet: (value: unknown) => boolean): { bits: Uint8Array; set: number } {
  const bytes = new Uint8Array(Math.ceil(values.length / 8));
  let set = 0;
  for (let row = 0; row < values.length; row++) {
    if (!isSet(values[row])) continue;
    bytes[row >>> 3]! |= 1 << (row & 7);
    set++;
  }
  return { bits: bytes, set };
}

const encoder = new TextEncoder();

/** Returns the offset of each text, the end of the last text, and the texts in UTF-8. */
function textBuffers(texts: readonly (string | undefined)[]): [Int32Array, Uint8Array] {
  const offsets = new Int32Array(texts.length + 1);
  const joined = texts.join('');
  const utf8 = encoder.encode(joined);
  // If there are as many bytes as UTF-16 units, the text is ASCII.
  if (utf8.length === joined.length) {
    let end = 0;
    for (let row = 0; row < texts.length; row++) {
      end += texts[row]?.length ?? 0;
      offsets[row + 1] = end;
    }
    return [offsets, utf8];
  }
  // The texts are converted separately, because joining might have combined halves of two characters.
  const formed = texts.map((text) => text?.toWellFormed() ?? '');
  let end = 0;
  for (const [row, text] of formed.entries()) {
    end += Buffer.byteLength(text);
    offsets[row + 1] = end;
  }
  return [offsets, encoder.encode(formed.join(''))];
}

function words(values: readonly (string | undefined)[]): Written {
  const codes = new Int32Array(values.length);
  const places = new Map<string, number>();
  for (let row = 0; row < values.length; row++) {
    const word = values[row];
    if (word === undefined) continue;
    let place = places.get(word);
    if (place === undefined) {
      place = places.size;
      places.set(word, place);
    }
    codes[row] = place;
  }
  return { buffers: [codes], dictionary: [...places.keys()] };
}

function textLists(values: readonly (readonly string[] | undefined)[]): Written {
  const offsets = new Int32Array(values.length + 1);
  const texts: string[] = [];
  for (const [row, list] of values.entries()) {
    for (const text of list ?? []) texts.push(text);
    offsets[row + 1] = texts.length;
  }
  const { nodes, buffers } = textData(texts);
  return { buffers: [offsets, ...buffers], inner: nodes };
}

function numbers<T extends Float64Array | Uint8Array | Uint16Array | Uint32Array>(out: T, values: ColumnValues): T {
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    if (value !== undefined) out[row] = typeof value === 'number' ? value : Number(JSON.stringify(value));
  }
  return out;
}

const wordSize = 2 ** 32;
const mostLong = 2 ** 63;

/**
 * Writes 64-bit integers in halves, because a BigInt for each integer would take several times as long. Values
 * above the maximum become the maximum.
 */
function longs(values: ColumnValues, of: (value: unknown) => number | bigint): Int32Array {
  const out = new Int32Array(2 * values.length);
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    if (value === undefined) continue;
    const long = of(value);
    if (long >= mostLong) {
      out[2 * row] = -1;
      out[2 * row + 1] = 2 ** 31 - 1;
    } else if (typeof long === 'bigint') {
      out[2 * row] = Number(BigInt.asIntN(32, long));
      out[2 * row + 1] = Number(BigInt.asIntN(32, long >> 32n));
    } else {
      const high = Math.floor(long / wordSize);
      out[2 * row] = long - high * wordSize;
      out[2 * row + 1] = high;
    }
  }
  return out;
}

/** Returns a number, or a BigInt for an integer that a double cannot represent. */
function integerOf(value: unknown): number | bigint {
  return typeof value === 'number' ? value : BigInt(JSON.stringify(value));
}

function timeOf(value: unknown, name: string): number {
  const time = typeof value === 'number' ? value : Date.parse(value as string);
  if (!Number.isFinite(time)) throw new Error(`${name} is not a time: ${JSON.stringify(value)}`);
  return time;
}
