/**
 * The canonical bytes of a piece, which holds consecutive stored events of one table. The hash of the bytes is a leaf
 * of the tree that an `events.sealed` entry commits to. The bytes depend only on the values, not on the storage format.
 * Numbers are little-endian.
 *
 * ```
 * piece   "candor-event-piece/v1\n"  text table  f64 first sequence  u32 rows  column …
 * column  text name  u8 kind  u8 form  values
 * text    u32 bytes  UTF-8
 * ```
 *
 * | kind | | one value | absent |
 * |---|---|---|---|
 * | `n` | number | f64 | the NaN 7ff8000000000000 |
 * | `t` | time | f64, epoch milliseconds | likewise |
 * | `b` | boolean | f64, 0 or 1 | likewise |
 * | `a` | address | u8 1, 16 bytes (IPv4 as ::ffff:a.b.c.d) | 17 zero bytes |
 * | `s` | text that rows share | u32 bytes, UTF-8 | index 0 |
 * | `u` | text unique to a row | u32 bytes, UTF-8 | ffffffff, no bytes |
 *
 * Columns are in the order of `columnNames`; later versions append columns. A column without any value is left out.
 * Form 1 has one value, which all rows share. Form 2, used if values differ and always for `u`, has a value per row.
 * Kind `u` has all lengths first, then the UTF-8 of all texts. Kind `s` has the number of distinct texts (u8), the
 * texts in order of first use, and for each row the index of its text, from 1 (u8).
 */
export const pieceMagic = 'candor-event-piece/v1\n';
export type PieceKind = 'n' | 't' | 'b' | 'a' | 's' | 'u';
export const oneForAll = 1;
export const oneForEach = 2;
/** The length that marks an absent text of kind `u`. */
export const absentLength = 0xffff_ffff;
/** Size in bytes of an address with its presence byte. */
export const addressWidth = 17;
/**
 * Rows per piece. A proof discloses this many events, and the tree has one hash per 64 events. The last piece
 * of a range may have fewer.
 */
export const pieceRows = 64;

export interface DecodedPiece {
  readonly table: string;
  readonly firstSeq: number;
  readonly rows: number;
  readonly columns: readonly PieceColumn[];
}

export interface PieceColumn {
  readonly name: string;
  readonly kind: PieceKind;
  /** Values by row: a number for `n`, `t` and `b`, 16 bytes for `a`, a text for `s` and `u`. */
  readonly values: readonly (number | string | Uint8Array | undefined)[];
}

/** Decodes a piece; undefined for bytes that are not a valid piece. */
export function decodePiece(bytes: Uint8Array): DecodedPiece | undefined {
  try {
    return new PieceReader(bytes).piece();
  } catch (error) {
    // A RangeError means an invalid or truncated piece, a TypeError means invalid UTF-8.
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

class PieceReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  piece(): DecodedPiece {
    if (this.#utf8(pieceMagic.length) !== pieceMagic) throw new RangeError('another version');
    const table = this.#utf8(this.#u32());
    const firstSeq = this.#f64();
    const rows = this.#u32();
    if (!Number.isSafeInteger(firstSeq) || rows === 0 || rows > pieceRows) throw new RangeError('rows');
    const columns: PieceColumn[] = [];
    do columns.push(this.#column(rows));
    while (this.#at < this.#bytes.length);
    if (new Set(columns.map(({ name }) => name)).size < columns.length) throw new RangeError('column');
    return { table, firstSeq, rows, columns };
  }

  #column(rows: number): PieceColumn {
    const name = this.#utf8(this.#u32());
    const kind = this.#utf8(1) as PieceKind;
    const form = this.#take(1)[0];
    if (form !== oneForAll && form !== oneForEach) throw new RangeError('form');
    const values = this.#values(kind, form, form === oneForAll ? 1 : rows);
    return { name, kind, values: form === oneForAll ? new Array(rows).fill(values[0]) : values };
  }

  #values(kind: PieceKind, form: number, rows: number): PieceColumn['values'] {
    const each = <T>(read: () => T, count = rows): T[] => Array.from({ length: count }, read);
    switch (kind) {
      case 'n':
      case 't':
      case 'b':
        return each(() => this.#f64()).map((value) => {
          if (Number.isNaN(value)) return undefined;
          if (!Number.isFinite(value) || (kind === 'b' && value !== 0 && value !== 1)) throw new RangeError('number');
          return value;
        });
      case 'a':
        return each(() => this.#take(addressWidth)).map((value) => {
          if (value[0] === 0) return undefined;
          if (value[0] !== 1) throw new RangeError('address');
          return value.subarray(1);
        });
      case 's': {
        const list = each(() => this.#utf8(this.#u32()), form === oneForAll ? 1 : this.#take(1)[0]);
        if (form === oneForAll) return list;
        return each(() => {
          const place = this.#take(1)[0]!;
          if (place > list.length) throw new RangeError('place');
          return list[place - 1];
        });
      }
      case 'u':
        return each(() => this.#u32()).map((length) => (length === absentLength ? undefined : this.#utf8(length)));
      default:
        throw new RangeError('kind');
    }
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('the piece is truncated');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  #utf8(length: number): string {
    return this.#decoder.decode(this.#take(length));
  }

  #u32(): number {
    const at = this.#at;
    this.#take(4);
    return this.#view.getUint32(at, true);
  }

  #f64(): number {
    const at = this.#at;
    this.#take(8);
    return this.#view.getFloat64(at, true);
  }
}
