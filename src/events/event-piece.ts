import {
  absentLength,
  addressWidth,
  oneForAll,
  oneForEach,
  type PieceKind,
  pieceMagic,
  pieceRows,
} from '../contract/event-piece.ts';
import { type AddressList, firstIpv4 } from './format/address-list.ts';
import type { EventBlock } from './format/block.ts';
import { encodings } from './format/block-format.ts';
import type { NumberColumn } from './format/column-readers.ts';
import { type Column, columnNames, columnOf, tables } from './format/columns.ts';
import type { Table } from './records.ts';

/** The rows [first, end) of a block. */
export interface RowRun {
  readonly block: EventBlock;
  readonly first: number;
  readonly end: number;
}

/** Consecutive rows of one table that are hashed together. */
export interface Piece {
  readonly firstSeq: number;
  readonly rows: number;
  readonly runs: readonly RowRun[];
}

/** Yields pieces of `pieceRows` rows each, up to the first gap in the sequences. The last piece may have fewer rows. */
export function* pieces(runs: Iterable<RowRun>): Generator<Piece> {
  let firstSeq = 0;
  let rows = 0;
  let taken: RowRun[] = [];
  for (const { block, first, end } of runs) {
    const start = block.firstSeq + first;
    if (firstSeq === 0) firstSeq = start;
    if (start !== firstSeq + rows) break;
    for (let from = first; from < end; ) {
      const to = Math.min(end, from + pieceRows - rows);
      taken.push({ block, first: from, end: to });
      rows += to - from;
      from = to;
      if (rows < pieceRows) break;
      yield { firstSeq, rows, runs: taken };
      firstSeq += rows;
      rows = 0;
      taken = [];
    }
  }
  if (rows > 0) yield { firstSeq, rows, runs: taken };
}

/** Description of a column for its canonical form. */
interface ColumnForm {
  readonly place: number;
  readonly head: Uint8Array;
  readonly kind: PieceKind;
  /** The texts of an enum. */
  readonly words?: TextRun;
}

/** Consecutive texts: text n is from offset n to offset n + 1. */
interface TextRun {
  readonly offsets: ArrayLike<number>;
  readonly utf8: Buffer;
}

const magic = Buffer.from(pieceMagic);
const kinds = {
  time: 't',
  number: 'n',
  boolean: 'b',
  address: 'a',
  enum: 's',
  text: 's',
  unique: 'u',
} as const satisfies Record<Column['kind'], PieceKind>;

const forms: Readonly<Record<Table, readonly ColumnForm[]>> = Object.fromEntries(
  tables.map((table) => [table, columnNames[table].map((name, place) => formOf(table, name, place))]),
) as Record<Table, ColumnForm[]>;

function formOf(table: Table, name: string, place: number): ColumnForm {
  const column = columnOf(table, name)!;
  const kind = kinds[column.kind];
  const head = Buffer.concat([textOf(name), Buffer.from(kind)]);
  return { place, head, kind, ...(column.kind === 'enum' && { words: runOf(column.values) }) };
}

function textOf(text: string): Buffer {
  const bytes = Buffer.from(`    ${text}`);
  bytes.writeUInt32LE(bytes.length - 4);
  return bytes;
}

function runOf(words: readonly string[]): TextRun {
  const offsets = [0];
  for (const word of words) offsets.push(offsets.at(-1)! + Buffer.byteLength(word));
  return { offsets, utf8: Buffer.from(words.join('')) };
}

/**
 * Writes pieces as the bytes to hash: a zero byte, as for every leaf of RFC 6962, and the canonical form. The canonical
 * form depends only on the values, not on their storage in blocks. A single buffer serves all pieces.
 */
export class PieceWriter {
  #bytes = new Uint8Array(2 ** 16);
  #view = viewOf(this.#bytes);
  #at = 0;
  readonly #codes = new Uint32Array(pieceRows);
  readonly #values = new Float64Array(pieceRows);
  readonly #valueBytes = new Uint8Array(this.#values.buffer);
  /** Index of each row's text while a text column is written. */
  readonly #places = new Uint8Array(pieceRows);
  /** Index of each code's text. */
  readonly #placeOf = new Uint8Array(2 ** 16 + 1);
  readonly #listed = new Uint32Array(pieceRows + 1);

  /**
   * Writes a piece.
   *
   * @returns the bytes, valid until the next call
   */
  write(piece: Piece): Uint8Array {
    const { firstSeq, rows, runs } = piece;
    const { block, first } = runs[0]!;
    const { table } = block;
    const oneRow = [{ block, first, end: first + 1 }];
    this.#at = 1; // after the zero byte
    this.#put(magic);
    this.#put(textOf(table));
    this.#view.setFloat64(this.#at, firstSeq, true);
    this.#view.setUint32(this.#at + 8, rows, true);
    this.#at += 12;
    for (const form of forms[table]) this.#column(form, piece, oneRow);
    return this.#bytes.subarray(0, this.#at);
  }

  #put(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Writes a column unless all rows lack a value. */
  #column({ place, head, kind, words }: ColumnForm, { rows, runs }: Piece, oneRow: readonly RowRun[]): void {
    if (runs.every(({ block }) => block.header.encoding(place) === encodings.absent)) return;
    const start = this.#at;
    this.#reserve(head.length + slack);
    for (let i = 0; i < head.length; i++) this.#bytes[this.#at++] = head[i]!;
    const form = this.#at++;
    // A constant column has one value for all rows, so reading one row is enough.
    const isConstant = runs.length === 1 && runs[0]!.block.header.encoding(place) === encodings.constant;
    const told = isConstant && kind !== 'u' ? oneRow : runs;
    const shared =
      kind === 's'
        ? this.#list(place, told, words)
        : kind === 'u'
          ? this.#texts(place, runs, rows)
          : kind === 'a'
            ? this.#addresses(place, told)
            : this.#numbers(place, told);
    this.#bytes[form] = shared === undefined ? oneForEach : oneForAll;
    if (shared !== undefined) this.#at = shared === 0 ? start : form + 1 + shared;
  }

  /**
   * Writes numbers.
   *
   * @returns the number of bytes of the value if all rows have an equal value; 0 if no row has a value; undefined if
   *   the values differ
   */
  #numbers(place: number, runs: readonly RowRun[]): number | undefined {
    const values = this.#values;
    let rows = 0;
    for (const { block, first, end } of runs) {
      readNumbers(block.numbersAt(place), first, end, values.subarray(rows));
      rows += end - first;
    }
    const value = values[0]!;
    const isAbsent = Number.isNaN(value);
    let same = 1;
    while (same < rows && (values[same] === value || (isAbsent && Number.isNaN(values[same])))) same++;
    const isShared = same === rows;
    const written = isShared ? 1 : rows;
    this.#bytes.set(this.#valueBytes.subarray(0, 8 * written), this.#at);
    for (let row = 0; row < written; row++) {
      // Writes one fixed NaN, because JavaScript engines may store any NaN.
      if (Number.isNaN(values[row])) this.#view.setBigUint64(this.#at + 8 * row, absentNumber, true);
    }
    this.#at += 8 * written;
    if (!isShared) return undefined;
    return isAbsent ? 0 : 8;
  }

  #addresses(place: number, runs: readonly RowRun[]): number | undefined {
    const start = this.#at;
    const codes = this.#codes;
    const bytes = this.#bytes;
    let rows = 0;
    for (const run of runs) {
      const { list } = run.block.addressesAt(place);
      const end = this.#readCodes(place, run, rows, 'a');
      bytes.set(ipv4Rows.subarray(0, addressWidth * (end - rows)), this.#at);
      for (; rows < end; rows++, this.#at += addressWidth) writeAddress(list, codes[rows]!, bytes, this.#at);
    }
    let same = addressWidth;
    const length = this.#at - start;
    while (same < length && bytes[start + same] === bytes[start + same - addressWidth]) same++;
    if (same < length) return undefined;
    return bytes[start] === 0 ? 0 : addressWidth;
  }

  /**
   * Writes the list of distinct values and the index of each row's value; only the value if all rows have an equal
   * value. Returns the same values as `#numbers`.
   */
  #list(place: number, runs: readonly RowRun[], words?: TextRun): number | undefined {
    const start = this.#at++;
    this.#listed[0] = this.#at;
    const codes = this.#codes;
    const placeOf = this.#placeOf;
    let count = 0;
    let row = 0;
    let isShared = true;
    for (const run of runs) {
      const list = words ?? run.block.textsAt(place).list;
      const from = row;
      const to = this.#readCodes(place, run, row, words === undefined ? 's' : 'enum');
      for (; row < to; row++) {
        const code = codes[row]!;
        let at = placeOf[code]!;
        if (at === 0 && code !== 0) {
          // Different codes within a run refer to different texts.
          at = this.#listText(list, code, count, runs.length > 1);
          count = Math.max(count, at);
          placeOf[code] = at;
        }
        this.#places[row] = at;
        if (at !== 1) isShared = false;
      }
      for (let i = from; i < to; i++) placeOf[codes[i]!] = 0;
    }
    if (count === 0) return 0;
    if (isShared) {
      this.#bytes.copyWithin(start, start + 1, this.#at);
      return this.#at - start - 1;
    }
    this.#bytes[start] = count;
    for (let i = 0; i < row; i++) this.#bytes[this.#at++] = this.#places[i]!;
    return undefined;
  }

  /**
   * Adds a text to the list, unless another run has already added it.
   *
   * @returns the index of the text in the list, from 1
   */
  #listText({ offsets, utf8 }: TextRun, code: number, count: number, mayBeThere: boolean): number {
    const from = offsets[code - 1]!;
    const to = offsets[code]!;
    const start = this.#at;
    this.#reserve(to - from + slack);
    this.#view.setUint32(start, to - from, true);
    this.#at += 4;
    this.#copy(utf8, from, to);
    this.#listed[count + 1] = this.#at;
    for (let place = 1; mayBeThere && place <= count; place++) {
      if (!this.#areEqual(this.#listed[place - 1]!, this.#listed[place]!, start)) continue;
      this.#at = start;
      return place;
    }
    return count + 1;
  }

  /** Returns whether the bytes [from, to) equal the bytes from `start` to the end. */
  #areEqual(from: number, to: number, start: number): boolean {
    const bytes = this.#bytes;
    if (to - from !== this.#at - start) return false;
    let at = from;
    while (at < to && bytes[at] === bytes[start + at - from]) at++;
    return at === to;
  }

  /** Writes all lengths, then all texts. Returns 0 if no row has a text. */
  #texts(place: number, runs: readonly RowRun[], rows: number): 0 | undefined {
    const lengths = this.#at;
    this.#at = lengths + 4 * rows;
    let isAbsent = true;
    let row = 0;
    for (const run of runs) {
      const from = row;
      row = this.#readCodes(place, run, from, 's');
      for (let i = from; i < row; i++) if (this.#codes[i] !== 0) isAbsent = false;
      this.#copyTexts(run.block.textsAt(place).list, from, row, lengths);
    }
    return isAbsent ? 0 : undefined;
  }

  /** Reads the codes of a run's rows: 0 for no value, otherwise the index of the value plus 1. */
  #readCodes(place: number, { block, first, end }: RowRun, at: number, kind: 'a' | 's' | 'enum'): number {
    const codes = this.#codes;
    let to = at;
    if (kind === 'enum') {
      const column = block.numbersAt(place);
      for (let row = first; row < end; row++) codes[to++] = column.at(row) + 1; // NaN becomes 0
      return to;
    }
    const column = kind === 'a' ? block.addressesAt(place) : block.textsAt(place);
    if (column.encoding === encodings.dictionary) {
      // This is equivalent to `column.code`, which is slower in this loop.
      const known = column.codes!;
      for (let row = first; row < end; row++) codes[to++] = known[row]!;
    } else for (let row = first; row < end; row++) codes[to++] = column.code(row);
    return to;
  }

  /**
   * Appends the texts of rows, and writes their lengths at `lengths`. Consecutive texts are copied together.
   */
  #copyTexts({ offsets, utf8 }: TextRun, firstRow: number, endRow: number, lengths: number): void {
    const codes = this.#codes;
    let from = 0;
    let to = 0;
    for (let row = firstRow; row < endRow; row++) {
      const code = codes[row]!;
      if (code === 0) {
        this.#view.setUint32(lengths + 4 * row, absentLength, true);
        continue;
      }
      const start = offsets[code - 1]!;
      const end = offsets[code]!;
      this.#view.setUint32(lengths + 4 * row, end - start, true);
      if (start !== to) {
        this.#copy(utf8, from, to);
        from = start;
      }
      to = end;
    }
    this.#copy(utf8, from, to);
  }

  #copy(utf8: Buffer, from: number, to: number): void {
    this.#reserve(to - from + slack);
    const bytes = this.#bytes;
    const by = this.#at - from;
    // A loop over 40 bytes takes as long as Buffer.copy.
    if (to - from > 40) utf8.copy(bytes, this.#at, from, to);
    else for (let i = from; i < to; i++) bytes[by + i] = utf8[i]!;
    this.#at += to - from;
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#bytes.length) return;
    const bytes = new Uint8Array(2 * (this.#at + length));
    bytes.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

/** Space for the values of a column, without texts. */
const slack = (pieceRows + 1) * addressWidth;

/** The bits of the NaN that is written for an absent number. */
const absentNumber = 0x7ff8_0000_0000_0000n;

/** Reads numbers like `column.at`, with zero for negative zero. */
function readNumbers(column: NumberColumn, first: number, end: number, to: Float64Array): void {
  const { base, encoding, values } = column;
  if (encoding === encodings.offset) {
    for (let row = first; row < end; row++) {
      const code = values![row]!;
      to[row - first] = code === 0 ? Number.NaN : base + code;
    }
  } else for (let row = first; row < end; row++) to[row - first] = column.at(row) + 0;
}

/** Rows with the address 0.0.0.0. */
const ipv4Rows = new Uint8Array(addressWidth * pieceRows);
for (let at = 0; at < ipv4Rows.length; at += addressWidth) {
  ipv4Rows[at] = 1;
  ipv4Rows.set(firstIpv4, at + 1);
}

/** Writes an address over a row with the address 0.0.0.0. */
function writeAddress(list: AddressList, code: number, out: Uint8Array, at: number): void {
  const value = code === 0 ? -1 : list.ipv4(code - 1);
  if (value >= 0) {
    out[at + 13] = value >>> 24;
    out[at + 14] = value >>> 16;
    out[at + 15] = value >>> 8;
    out[at + 16] = value;
  } else if (code === 0) out.fill(0, at, at + addressWidth);
  else list.write(code - 1, out, at + 1);
}

const viewOf = ({ buffer }: Uint8Array<ArrayBuffer>) => new DataView(buffer);
