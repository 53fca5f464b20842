import type { Table } from '../records.ts';
import { columnNames, tables } from './columns.ts';

/**
 * Byte layout of a block of events, little-endian:
 *
 * ```
 *  0  u32  magic           16  f64  minTime     32  one entry of 32 bytes per column,
 *  4  u8   table           24  f64  maxTime         then texts and addresses that fit into the header
 *  5  u8   columns
 *  6  u16  source addresses that rows have at both ends; 65,535 if not counted
 *  8  u32  rows            parts follow the header in the order of columns, codes before dictionary,
 * 12  u32  header bytes    each at a multiple of 8
 * ```
 *
 * Entry of a column:
 *
 * ```
 *  0  u8   encoding         4  u32  bytes of codes            16  f64  least value  } of numbers, else
 *  1  u8   width            8  u32  bytes of dictionary       24  f64  largest value}
 *  2  u8   compressed      12  u32  dictionary's entries      16  u32  offset, 20 u32 length in the header
 *                                                             24  u32  bytes of the tail
 *                                                             28  u32  addresses of 4 bytes among others of 16
 * ```
 *
 * | encoding | codes | dictionary |
 * |---|---|---|
 * | absent | | |
 * | constant | | addresses, texts: the one entry, in the header |
 * | offset | numbers: u8, u16 or u32 (`width`) value − least + 1; 0 is absent | |
 * | float | numbers: f64; NaN is absent | |
 * | dictionary | u8 or u16 (`width`) entry + 1; 0 is absent | sorted |
 * | plain | u8, 0 if absent; none if all rows have a text | a text for each row |
 *
 * Addresses are u32 if all addresses of a block are IPv4 (shown by the dictionary's length), otherwise 16 bytes each.
 * In a block with both families, IPv4 addresses may follow the other addresses as u32 (address-list.ts). Texts are u32
 * offsets, one more than there are texts, and then UTF-8. A small dictionary is in the header as a whole; otherwise the
 * header has its first and last entry, as a dictionary of two.
 *
 * A column may have a tail. For addresses, the tail follows the dictionary, and contains the number of rows of each
 * entry, and the number of rows that have the address at both ends (tallies.ts). For plain texts, the tail is a filter
 * that excludes texts that the block does not have (text-filter.ts). The filter follows the codes, because its readers
 * often need no texts. The size of a part includes its tail. Columns without a tail, as in older blocks, can still be
 * read and searched.
 */
export const encodings = { absent: 0, constant: 1, offset: 2, float: 3, dictionary: 4, plain: 5 } as const;

export const magic = 0x3342_4543;
/**
 * Marks blocks without the last column, `sensor_id`, which is absent in these blocks. The rest of the format
 * is unchanged.
 */
export const secondMagic = 0x3242_4543;
/** Marks blocks without `sensor_id`, tails and mixed-width dictionaries. */
export const firstMagic = 0x3142_4543;
export const headEnd = 32;
export const entryBytes = 32;
/**
 * Maximum size of a dictionary in the header. Short dictionaries there save a read for protocols, states and sensors.
 */
export const maxInlineBytes = 256;

export const aligned = (bytes: number): number => (bytes + 7) & ~7;

/** The parsed header. */
export class BlockHeader {
  readonly table: Table;
  readonly rows: number;
  /**
   * Number of source addresses that some rows have at both ends (tallies.ts), for a column of addresses with a tail.
   */
  readonly toItself: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  /** Number of entries in the header. Further columns are absent. */
  readonly #columns: number;

  /**
   * `bytes` may be longer than the header. The bytes are referenced, not copied, and must start at a multiple
   * of 8.
   */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const known = bytes.byteLength >= headEnd ? view.getUint32(0, true) : 0;
    const isOlder = known === secondMagic || known === firstMagic;
    if (known !== magic && !isOlder) throw new Error('the bytes are not an event block');
    const table = tables[view.getUint8(4)];
    this.#columns = view.getUint8(5);
    if (table === undefined || this.#columns !== columnNames[table].length - (isOlder ? 1 : 0)) {
      throw new Error('the event block has an unsupported format');
    }
    this.table = table;
    this.toItself = view.getUint16(6, true);
    this.rows = view.getUint32(8, true);
    this.bytes = bytes.subarray(0, view.getUint32(12, true));
    this.minTime = view.getFloat64(16, true);
    this.maxTime = view.getFloat64(24, true);
    this.#view = view;
  }

  encoding(column: number): number {
    return this.#columns > column ? this.#view.getUint8(headEnd + column * entryBytes) : encodings.absent;
  }
  width(column: number): number {
    return this.#view.getUint8(headEnd + column * entryBytes + 1);
  }
  compressed(column: number): boolean {
    return this.#view.getUint8(headEnd + column * entryBytes + 2) === 1;
  }
  /** Returns the size of a column's codes, with their tail. */
  codesBytes(column: number): number {
    return this.#word(column, 4);
  }
  /** Returns the size of a column's dictionary, with its tail. */
  dictionaryBytes(column: number): number {
    return this.#word(column, 8);
  }
  entries(column: number): number {
    return this.#word(column, 12);
  }
  /** Returns the least value of a number column. */
  min(column: number): number {
    return this.#view.getFloat64(headEnd + column * entryBytes + 16, true);
  }
  /** Returns the largest value of a number column. */
  max(column: number): number {
    return this.#view.getFloat64(headEnd + column * entryBytes + 24, true);
  }
  /** Returns the dictionary of addresses or texts, or only its first and last entry if `dictionaryBytes` is not 0. */
  inline(column: number): Uint8Array<ArrayBuffer> {
    const offset = this.#word(column, 16);
    return this.bytes.subarray(offset, offset + this.#word(column, 20));
  }
  /** Returns the size of the tail of addresses or texts. */
  tailBytes(column: number): number {
    return this.#word(column, 24);
  }
  /** Returns the number of addresses with 4 bytes in a dictionary of both address families. */
  ipv4Entries(column: number): number {
    return this.#word(column, 28);
  }
  /** Returns the tail of a dictionary in the header. */
  inlineTail(column: number): Uint8Array<ArrayBuffer> {
    const end = this.#word(column, 16) + this.#word(column, 20);
    return this.bytes.subarray(end, end + this.tailBytes(column));
  }
  /** Returns the word at this offset of a column's entry; 0 if the header has no entry for the column. */
  #word(column: number, offset: number): number {
    return this.#columns > column ? this.#view.getUint32(headEnd + column * entryBytes + offset, true) : 0;
  }
}
