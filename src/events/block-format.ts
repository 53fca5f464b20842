import { columnNames, tables } from './columns.ts';
import type { Table } from './records.ts';

/**
 * A block of events in bytes, little-endian:
 *
 * ```
 *  0  u32  magic           16  f64  minTime     32  one entry of 32 bytes for each column,
 *  4  u8   table           24  f64  maxTime         then texts and addresses that fit into the header
 *  5  u8   columns
 *  6  u16  addresses with rows to themselves; 65,535 where that wasn't counted
 *  8  u32  rows            parts follow the header in the order of columns, codes before dictionary,
 * 12  u32  header bytes    each at a multiple of 8
 * ```
 *
 * Entry of a column:
 *
 * ```
 *  0  u8   encoding         4  u32  bytes of codes            16  f64  least value  } of numbers
 *  1  u8   width            8  u32  bytes of dictionary       24  f64  largest value}
 *  2  u8   compressed      12  u32  dictionary's entries      16  u32  offset, 20 u32 length in the header, of others;
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
 * | plain | u8, 0 where absent; none when all rows have one | a text for each row |
 *
 * Addresses are u32 each when all of a block are IPv4 (told by the dictionary's length), else 16 bytes each, but that
 * those of IPv4 may lie behind the others as u32 (address-list.ts). Texts are u32 offsets, one more than entries, and
 * UTF-8. A small dictionary lies in the header as a whole; otherwise the header has its first and last entry, as a
 * dictionary of two.
 *
 * A column may have a tail. Of addresses it is the rows of each entry, and of those to itself (tallies.ts), behind the
 * dictionary, wherever that lies. Of plain texts it is a filter that tells which the block has not (text-filter.ts),
 * behind the codes, as who asks it won't read the texts. Bytes of a part count its tail. Columns without one, as in
 * blocks from before there were any, are read and searched.
 */
export const encodings = { absent: 0, constant: 1, offset: 2, float: 3, dictionary: 4, plain: 5 } as const;

export const magic = 0x3342_4543;
/** Marks blocks without the last column, `sensor_id`, which is absent in them. All else is the same. */
export const secondMagic = 0x3242_4543;
/** Marks blocks without that column, tails and dictionaries of both widths. */
export const firstMagic = 0x3142_4543;
export const headEnd = 32;
export const entryBytes = 32;
/** Dictionaries up to this size lie in the header: one read less for protocols, states, sensors. */
export const maxInlineBytes = 256;

export const aligned = (bytes: number): number => (bytes + 7) & ~7;

/** The parsed header. Its bytes are its own. */
export class BlockHeader {
  readonly table: Table;
  readonly rows: number;
  /** Of addresses with a tail: how many have rows to themselves (tallies.ts). */
  readonly toItself: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  /** Entries in the header. Columns behind them are absent. */
  readonly #columns: number;

  /** `bytes` may be longer than the header. They are kept, not copied, and must start at a multiple of 8. */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const known = bytes.byteLength >= headEnd ? view.getUint32(0, true) : 0;
    const isOlder = known === secondMagic || known === firstMagic;
    if (known !== magic && !isOlder) throw new Error('not a block of events');
    const table = tables[view.getUint8(4)];
    this.#columns = view.getUint8(5);
    if (table === undefined || this.#columns !== columnNames[table].length - (isOlder ? 1 : 0)) {
      throw new Error('block of events of another format');
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
  /** Of the part, with its tail. */
  codesBytes(column: number): number {
    return this.#word(column, 4);
  }
  /** Of the part, with its tail. */
  dictionaryBytes(column: number): number {
    return this.#word(column, 8);
  }
  entries(column: number): number {
    return this.#word(column, 12);
  }
  /** Of a number column. */
  min(column: number): number {
    return this.#view.getFloat64(headEnd + column * entryBytes + 16, true);
  }
  /** Of a number column. */
  max(column: number): number {
    return this.#view.getFloat64(headEnd + column * entryBytes + 24, true);
  }
  /** Of addresses and texts: the dictionary, or its first and last entry when `dictionaryBytes` is not 0. */
  inline(column: number): Uint8Array<ArrayBuffer> {
    const offset = this.#word(column, 16);
    return this.bytes.subarray(offset, offset + this.#word(column, 20));
  }
  /** Of addresses and texts. */
  tailBytes(column: number): number {
    return this.#word(column, 24);
  }
  /** Of a dictionary of addresses of both families: how many take 4 bytes. */
  ipv4Entries(column: number): number {
    return this.#word(column, 28);
  }
  /** The tail of a dictionary that lies in the header. */
  inlineTail(column: number): Uint8Array<ArrayBuffer> {
    const end = this.#word(column, 16) + this.#word(column, 20);
    return this.bytes.subarray(end, end + this.tailBytes(column));
  }
  /** A word of a column's entry, at this offset; 0 if the header has no such entry. */
  #word(column: number, offset: number): number {
    return this.#columns > column ? this.#view.getUint32(headEnd + column * entryBytes + offset, true) : 0;
  }
}
