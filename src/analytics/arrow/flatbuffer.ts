import { Builder } from 'flatbuffers';

export type FlatValue =
  /** A number of this many bytes; an undefined field is omitted. */
  | { readonly bytes: 1 | 2 | 4 | 8; readonly value: number }
  | { readonly text: string }
  | FlatTable
  | { readonly tables: readonly FlatTable[] }
  /** Structs of `per` 64-bit integers each, in sequence. */
  | { readonly longs: readonly number[]; readonly per: number };

/** A table, whose fields are in the order of the schema; undefined for absent fields. */
export interface FlatTable {
  readonly fields: readonly (FlatValue | undefined)[];
}

export const u8 = (value: number) => ({ bytes: 1, value }) as const;
export const flag = (value: boolean) => u8(value ? 1 : 0);
export const i16 = (value: number) => ({ bytes: 2, value }) as const;
export const i32 = (value: number) => ({ bytes: 4, value }) as const;
export const i64 = (value: number) => ({ bytes: 8, value }) as const;

/** Writes a buffer with this root table. The buffer's length is a multiple of eight. */
export function writeFlatBuffer(root: FlatTable): Uint8Array {
  const builder = new Builder(4096);
  builder.forceDefaults(true);
  const place = write(builder, root);
  builder.prep(8, 4);
  builder.finish(place);
  return builder.asUint8Array();
}

/** Writes a value and all values that it refers to. Returns the position of the value. */
function write(builder: Builder, value: Exclude<FlatValue, { bytes: number }>): number {
  if ('text' in value) return builder.createString(value.text);
  if ('longs' in value) {
    builder.startVector(8 * value.per, value.longs.length / value.per, 8);
    for (const long of value.longs.toReversed()) builder.addInt64(BigInt(long));
    return builder.endVector();
  }
  if ('tables' in value) {
    const places = value.tables.map((table) => write(builder, table));
    builder.startVector(4, places.length, 4);
    for (const place of places.toReversed()) builder.addOffset(place);
    return builder.endVector();
  }
  return writeTable(builder, value.fields);
}

function writeTable(builder: Builder, fields: readonly (FlatValue | undefined)[]): number {
  // The parts of a table must be written before the table starts.
  const places = fields.map((field) => (field === undefined || 'bytes' in field ? 0 : write(builder, field)));
  builder.startObject(fields.length);
  for (const [slot, field] of fields.entries()) {
    if (field === undefined) continue;
    if (!('bytes' in field)) builder.addFieldOffset(slot, places[slot]!, 0);
    else if (field.bytes === 1) builder.addFieldInt8(slot, field.value, null);
    else if (field.bytes === 2) builder.addFieldInt16(slot, field.value, null);
    else if (field.bytes === 4) builder.addFieldInt32(slot, field.value, null);
    else builder.addFieldInt64(slot, BigInt(field.value), null);
  }
  return builder.endObject();
}
