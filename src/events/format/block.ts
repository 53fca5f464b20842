import { zstdDecompressSync } from 'node:zlib';
import { isTextFilter, mayHave, type TextHash } from '../query/text-filter.ts';
import type { Table } from '../records.ts';
import { aligned, BlockHeader, encodings } from './block-format.ts';
import {
  type AddressColumn,
  AddressList,
  CodedColumn,
  type Codes,
  NumberColumn,
  type TextColumn,
  TextList,
} from './column-readers.ts';
import { type ColumnName, columnIndex, columnNames } from './columns.ts';
import { Tallies, unknown } from './tallies.ts';

export type PartKind = 'codes' | 'dictionary';

/**
 * Reads a part of a block. The bytes must start at a multiple of 8 in their buffer and stay unchanged while
 * the block is in use.
 */
export type ReadPart = (column: number, kind: PartKind) => Uint8Array;

/**
 * Events of one table as columns, which are read on demand. Rows count from 0; row n has the commit sequence
 * `firstSeq + n`. Rows are in order of arrival, not of event time.
 */
export class EventBlock {
  readonly table: Table;
  readonly rows: number;
  readonly firstSeq: number;
  /** Least timestamp, epoch milliseconds; NaN in an empty block. */
  readonly minTime: number;
  /** Largest timestamp, epoch milliseconds; NaN in an empty block. */
  readonly maxTime: number;
  readonly header: BlockHeader;
  readonly #readPart: ReadPart;
  readonly #columns: (NumberColumn | AddressColumn | TextColumn | undefined)[] = [];
  readonly #addressLists: (AddressList | undefined)[] = [];

  constructor(header: BlockHeader, firstSeq: number, readPart: ReadPart) {
    this.table = header.table;
    this.rows = header.rows;
    this.firstSeq = firstSeq;
    this.minTime = header.minTime;
    this.maxTime = header.maxTime;
    this.header = header;
    this.#readPart = readPart;
  }

  /** Returns a column of kind time, number, boolean or enum. */
  numbers(name: ColumnName): NumberColumn {
    return this.numbersAt(this.#place(name));
  }

  /** Returns the least and the largest number of the column without reading it. Absent values are ignored. */
  numberBounds(name: ColumnName): readonly [least: number, most: number] {
    const column = this.#place(name);
    return [this.header.min(column), this.header.max(column)];
  }

  addresses(name: ColumnName): AddressColumn {
    return this.addressesAt(this.#place(name));
  }

  /** Returns a column of kind text or unique. */
  texts(name: ColumnName): TextColumn {
    return this.textsAt(this.#place(name));
  }

  /** Returns a column by its index in `columnNames`, for code that reads many rows. */
  numbersAt(column: number): NumberColumn {
    const known = this.#columns[column];
    if (known !== undefined) return known as NumberColumn;
    const opened = this.#openNumbers(column);
    this.#columns[column] = opened;
    return opened;
  }

  addressesAt(column: number): AddressColumn {
    const known = this.#columns[column];
    if (known !== undefined) return known as AddressColumn;
    const opened = this.#openAddresses(column);
    this.#columns[column] = opened;
    return opened;
  }

  textsAt(column: number): TextColumn {
    const known = this.#columns[column];
    if (known !== undefined) return known as TextColumn;
    const opened = this.#openTexts(column);
    this.#columns[column] = opened;
    return opened;
  }

  /** Returns the first and last address of the column; all its addresses if the header contains the dictionary. */
  addressBounds(name: ColumnName): AddressList {
    const column = this.#place(name);
    const { header } = this;
    return header.dictionaryBytes(column) > 0
      ? new AddressList(header.inline(column), 2)
      : new AddressList(header.inline(column), header.entries(column), header.ipv4Entries(column));
  }

  /** Returns the addresses of a column with the number of rows of each, without reading the codes of rows. */
  addressList(name: ColumnName): AddressList {
    return this.#addressListAt(this.#place(name));
  }

  /** Returns the address code of each row; undefined if all rows have one address. */
  addressCodes(name: ColumnName): Codes | undefined {
    const column = this.#place(name);
    const known = this.#columns[column] as AddressColumn | undefined;
    return known === undefined ? this.#dictionaryCodes(column) : known.codes;
  }

  /**
   * Returns whether a row may have the text in a column of kind unique. False is certain; true may require
   * reading the texts.
   */
  mayHave(name: ColumnName, text: TextHash): boolean {
    const { header } = this;
    const column = this.#place(name);
    if (header.encoding(column) === encodings.absent) return false;
    const length = header.tailBytes(column);
    if (length === 0) return true;
    const filter = this.#readPart(column, 'codes').subarray(-length);
    return !isTextFilter(filter, this.rows) || mayHave(filter, text);
  }

  #place(name: ColumnName): number {
    const column = columnIndex[this.table].get(name);
    if (column === undefined) throw new Error(`${this.table} events have no column ${name}`);
    return column;
  }

  #openNumbers(column: number): NumberColumn {
    const { header } = this;
    const encoding = header.encoding(column);
    switch (encoding) {
      case encodings.offset:
        return new NumberColumn(encoding, header.min(column) - 1, this.#codes(column, header.width(column)));
      case encodings.float: {
        const bytes = this.#readPart(column, 'codes');
        return new NumberColumn(encoding, 0, new Float64Array(bytes.buffer, bytes.byteOffset, this.rows));
      }
      default:
        return new NumberColumn(encoding, header.min(column));
    }
  }

  #openAddresses(column: number): AddressColumn {
    const list = this.#addressListAt(column);
    return new CodedColumn(this.header.encoding(column), list, this.#dictionaryCodes(column));
  }

  #addressListAt(column: number): AddressList {
    const known = this.#addressLists[column];
    if (known !== undefined) return known;
    const { header } = this;
    const inHeader = header.dictionaryBytes(column) === 0;
    const bytes = inHeader ? header.inline(column) : this.#readPart(column, 'dictionary');
    const tail = header.tailBytes(column);
    const end = inHeader ? bytes.length : bytes.length - tail;
    const entries = header.entries(column);
    let tallies: Tallies | undefined;
    if (tail > 0) {
      const toItself = this.#place('src_ip') === column ? header.toItself : unknown;
      tallies = new Tallies(inHeader ? header.inlineTail(column) : bytes.subarray(end), entries, toItself);
    }
    const list = new AddressList(bytes.subarray(0, end), entries, header.ipv4Entries(column), tallies);
    this.#addressLists[column] = list;
    return list;
  }

  #openTexts(column: number): TextColumn {
    const list = new TextList(this.#dictionary(column), this.header.entries(column));
    return new CodedColumn(this.header.encoding(column), list, this.#dictionaryCodes(column));
  }

  #dictionary(column: number): Uint8Array {
    if (this.header.dictionaryBytes(column) === 0) return this.header.inline(column);
    const bytes = this.#readPart(column, 'dictionary');
    if (!this.header.compressed(column)) return bytes;
    // Copies the bytes if they do not start at a multiple of 8, because a pooled Buffer may start at any offset.
    const inflated = zstdDecompressSync(bytes);
    return inflated.byteOffset % 8 === 0 ? inflated : Uint8Array.prototype.slice.call(inflated);
  }

  #dictionaryCodes(column: number): Codes | undefined {
    const { header } = this;
    const tail = header.encoding(column) === encodings.plain ? header.tailBytes(column) : 0;
    if (header.codesBytes(column) === tail) return undefined;
    return this.#codes(column, this.header.width(column)) as Codes;
  }

  #codes(column: number, width: number): Uint8Array | Uint16Array | Uint32Array {
    const { buffer, byteOffset } = this.#readPart(column, 'codes');
    if (width === 1) return new Uint8Array(buffer, byteOffset, this.rows);
    if (width === 2) return new Uint16Array(buffer, byteOffset, this.rows);
    return new Uint32Array(buffer, byteOffset, this.rows);
  }
}

/** Opens the bytes returned by `BlockBuilder.finish`. Parses only the header; the rest is read on demand. */
export function openBlock(buffer: ArrayBuffer, firstSeq: number): EventBlock {
  const bytes = new Uint8Array(buffer);
  const header = new BlockHeader(bytes);
  let starts: Uint32Array | undefined;
  return new EventBlock(header, firstSeq, (column, kind) => {
    starts ??= partStarts(header);
    const start = starts[2 * column + (kind === 'codes' ? 0 : 1)]!;
    const length = kind === 'codes' ? header.codesBytes(column) : header.dictionaryBytes(column);
    return bytes.subarray(start, start + length);
  });
}

/** Returns the start of each part of a whole block: codes and dictionary of each column. */
export function partStarts(header: BlockHeader): Uint32Array {
  const count = columnNames[header.table].length;
  const starts = new Uint32Array(2 * count);
  let place = header.bytes.byteLength;
  for (let column = 0; column < count; column++) {
    starts[2 * column] = place;
    place += aligned(header.codesBytes(column));
    starts[2 * column + 1] = place;
    place += aligned(header.dictionaryBytes(column));
  }
  return starts;
}
