/**
 * Writes a FlatBuffer (flatbuffers.dev, "Internals") front to back: each table behind its list of slots, and whatever
 * it refers to behind it.
 *
 * ```
 *   u32 ──▶ root ┬ i32 back to its slots ─▶ u16 bytes of the slots, u16 bytes of the table, u16 place of each field
 *                └ fields: numbers in place, u32 forward to texts, tables and vectors
 * ```
 */
export type FlatValue =
  /** A number in so many bytes; as a field it is left out where it is undefined. */
  | { readonly bytes: 1 | 2 | 4 | 8; readonly value: number }
  | { readonly text: string }
  | FlatTable
  | { readonly tables: readonly FlatTable[] }
  /** Structs of `per` 64-bit integers each, one behind the other. */
  | { readonly longs: readonly number[]; readonly per: number };

/** Fields in the order of the schema; undefined is absent. */
export interface FlatTable {
  readonly fields: readonly (FlatValue | undefined)[];
}

export const u8 = (value: number) => ({ bytes: 1, value }) as const;
export const flag = (value: boolean) => u8(value ? 1 : 0);
export const i16 = (value: number) => ({ bytes: 2, value }) as const;
export const i32 = (value: number) => ({ bytes: 4, value }) as const;
export const i64 = (value: number) => ({ bytes: 8, value }) as const;

/** The bytes of a buffer with this root, filled up to a multiple of eight. */
export function writeFlatBuffer(root: FlatTable): Uint8Array<ArrayBuffer> {
  const writer = new FlatWriter();
  const place = writer.reserve(4, 4);
  writer.pointTo(place, root);
  return writer.finish();
}

const encoder = new TextEncoder();

class FlatWriter {
  #bytes = new Uint8Array(4096);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;

  /** Room for so many bytes, zero, behind what there is. */
  reserve(bytes: number, alignment: number): number {
    const place = Math.ceil(this.#end / alignment) * alignment;
    this.#end = place + bytes;
    if (this.#end > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#end);
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return place;
  }

  pointTo(place: number, value: Exclude<FlatValue, { bytes: number }>): void {
    const target = this.#write(value);
    this.#view.setUint32(place, target - place, true);
  }

  finish(): Uint8Array<ArrayBuffer> {
    this.reserve(0, 8);
    return this.#bytes.slice(0, this.#end);
  }

  #write(value: Exclude<FlatValue, { bytes: number }>): number {
    if ('text' in value) return this.#writeText(value.text);
    if ('longs' in value) return this.#writeLongs(value.longs, value.per);
    if ('tables' in value) return this.#writeTables(value.tables);
    return this.#writeTable(value.fields);
  }

  /** Its length, its bytes, and a zero that the length doesn't count. */
  #writeText(text: string): number {
    const utf8 = encoder.encode(text);
    const place = this.reserve(4 + utf8.length + 1, 4);
    this.#view.setUint32(place, utf8.length, true);
    this.#bytes.set(utf8, place + 4);
    return place;
  }

  /** What is aligned is the first of them, not the length. */
  #writeLongs(longs: readonly number[], per: number): number {
    const start = this.reserve(0, 8);
    const place = start + 4;
    this.reserve(8 + 8 * longs.length, 8);
    this.#view.setUint32(place, longs.length / per, true);
    for (const [n, value] of longs.entries()) this.#setLong(place + 4 + 8 * n, value);
    return place;
  }

  #writeTables(tables: readonly FlatTable[]): number {
    const place = this.reserve(4 + 4 * tables.length, 4);
    this.#view.setUint32(place, tables.length, true);
    for (const [n, table] of tables.entries()) this.pointTo(place + 4 + 4 * n, table);
    return place;
  }

  #writeTable(fields: readonly (FlatValue | undefined)[]): number {
    const slots = this.reserve(4 + 2 * fields.length, 2);
    const table = this.reserve(4, 8);
    this.#view.setInt32(table, table - slots, true);
    const places = fields.map((field) => {
      if (field === undefined) return 0;
      const size = 'bytes' in field ? field.bytes : 4;
      return this.reserve(size, size);
    });
    this.#view.setUint16(slots, 4 + 2 * fields.length, true);
    this.#view.setUint16(slots + 2, this.#end - table, true);
    for (const [n, place] of places.entries())
      if (place > 0) this.#view.setUint16(slots + 4 + 2 * n, place - table, true);
    for (const [n, field] of fields.entries()) {
      if (field === undefined) continue;
      if ('bytes' in field) this.#setNumber(places[n]!, field);
      else this.pointTo(places[n]!, field);
    }
    return table;
  }

  #setNumber(
    place: number,
    { bytes, value }: { readonly bytes: 1 | 2 | 4 | 8; readonly value: number },
  ): void {
    if (bytes === 1) this.#view.setUint8(place, value);
    else if (bytes === 2) this.#view.setInt16(place, value, true);
    else if (bytes === 4) this.#view.setInt32(place, value, true);
    else this.#setLong(place, value);
  }

  #setLong(place: number, value: number): void {
    this.#view.setBigInt64(place, BigInt(value), true);
  }
}
