import { encodings } from '../events/block-format.ts';
import type { AddressList, CodedColumn, NumberColumn, TextList } from '../events/column-readers.ts';

type Numbers = Float64Array<ArrayBuffer>;
type Codes = Uint16Array<ArrayBuffer>;

/**
 * A column of rows [from, to) written out. Asked row by row, a column takes 10 ns, because it may be any of eight kinds;
 * written out at once, and read from one kind of array, 1 ns.
 */
export function writeNumbers(column: NumberColumn, from: number, to: number, out: Numbers): Numbers {
  const { encoding, base, values } = column;
  if (encoding === encodings.float) out.set((values as Float64Array).subarray(from, to), from);
  else if (encoding !== encodings.offset)
    out.fill(encoding === encodings.constant ? base : Number.NaN, from, to);
  else if (values instanceof Uint8Array) fromBytes(values, base, from, to, out);
  else if (values instanceof Uint16Array) fromShorts(values, base, from, to, out);
  else fromWords(values as Uint32Array, base, from, to, out);
  return out;
}

/** The same for codes: 0 where absent, else 1 more than the place in the list. */
export function writeCodes(
  column: CodedColumn<AddressList | TextList>,
  from: number,
  to: number,
  out: Codes,
): Codes {
  if (column.encoding === encodings.dictionary) out.set(column.codes!.subarray(from, to), from);
  else for (let row = from; row < to; row++) out[row] = column.code(row);
  return out;
}

/** Three times the same, each compiled for one kind of array. */
function fromBytes(values: Uint8Array, base: number, from: number, to: number, out: Numbers): void {
  for (let row = from; row < to; row++) out[row] = values[row] === 0 ? Number.NaN : base + values[row]!;
}

function fromShorts(values: Uint16Array, base: number, from: number, to: number, out: Numbers): void {
  for (let row = from; row < to; row++) out[row] = values[row] === 0 ? Number.NaN : base + values[row]!;
}

function fromWords(values: Uint32Array, base: number, from: number, to: number, out: Numbers): void {
  for (let row = from; row < to; row++) out[row] = values[row] === 0 ? Number.NaN : base + values[row]!;
}
