/**
 * The messages of an Arrow IPC stream (Arrow Columnar Format 1.5, "Serialization and interprocess
 * communication"; tables of Schema.fbs and Message.fbs, metadata version 5), without compression:
 *
 * ```
 *   stream   = schema, then for each page: a dictionary for each column of words, the batch; the end mark
 *   message  = 0xFFFFFFFF, i32 bytes of the metadata, metadata, buffers, each at a multiple of eight
 * ```
 *
 * Each page has complete dictionaries that replace the previous ones, so that a page depends only on its items,
 * and neither side stores the words of more than one page.
 */
import { type ArrowData, columnData, textData } from './buffers.ts';
import type { ArrowColumn, ArrowKind, ArrowRows } from './columns.ts';
import { type FlatTable, flag, i16, i32, i64, u8, writeFlatBuffer } from './flatbuffer.ts';

const continuation = 0xffff_ffff;
const metadataV5 = 4;
/** Codes of the unions MessageHeader and Type. */
const header = { schema: 1, dictionaryBatch: 2, recordBatch: 3 } as const;
const typeId = { int: 2, floatingPoint: 3, utf8: 5, bool: 6, timestamp: 10, list: 12 } as const;

interface LogicalType {
  readonly id: number;
  readonly table: FlatTable;
}

const int = (bits: number, isSigned: boolean): LogicalType => ({
  id: typeId.int,
  table: { fields: [i32(bits), flag(isSigned)] },
});
const utf8: LogicalType = { id: typeId.utf8, table: { fields: [] } };
const double = i16(2);
const milliseconds = i16(1);

/** Arrow types by kind; for words, the type of the dictionary. */
const types: { readonly [Kind in ArrowKind]: LogicalType } = {
  text: utf8,
  word: utf8,
  json: utf8,
  texts: { id: typeId.list, table: { fields: [] } },
  time: { id: typeId.timestamp, table: { fields: [milliseconds, { text: 'UTC' }] } },
  flag: { id: typeId.bool, table: { fields: [] } },
  real: { id: typeId.floatingPoint, table: { fields: [double] } },
  int64: int(64, true),
  uint8: int(8, false),
  uint16: int(16, false),
  uint32: int(32, false),
};

/** Returns the start of a stream: the names and types of its columns. */
export function schemaMessage(columns: readonly ArrowColumn[]): Uint8Array<ArrayBuffer> {
  const littleEndian = i16(0);
  const fields = columns.map(({ name, kind, nullable }, place) => {
    const inner = kind === 'texts' ? [field('item', utf8, false)] : [];
    return field(name, types[kind], nullable, inner, kind === 'word' ? place : undefined);
  });
  return message(header.schema, { fields: [littleEndian, { tables: fields }] }, []);
}

function field(
  name: string,
  type: LogicalType,
  nullable: boolean,
  inner: readonly FlatTable[] = [],
  dictionary?: number,
): FlatTable {
  const encoding = dictionary === undefined ? undefined : { fields: [i64(dictionary), int(32, true).table] };
  return { fields: [{ text: name }, flag(nullable), u8(type.id), type.table, encoding, { tables: inner }] };
}

/** Returns the messages of a page: its dictionaries, numbered like the columns, and the record batch. */
export function batchMessages(columns: readonly ArrowColumn[], rows: ArrowRows): Uint8Array<ArrayBuffer>[] {
  const messages: Uint8Array<ArrayBuffer>[] = [];
  const parts = columns.map((column, place) => {
    const part = columnData(column, rows.valuesOf(column));
    if (part.dictionary !== undefined) {
      const data = [textData(part.dictionary)];
      const batch = recordBatch(part.dictionary.length, data);
      messages.push(message(header.dictionaryBatch, { fields: [i64(place), batch] }, data));
    }
    return part;
  });
  return [...messages, message(header.recordBatch, recordBatch(rows.count, parts), parts)];
}

/** Returns the end-of-stream marker. A stream without it was truncated. */
export function endMark(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, continuation, true);
  return bytes;
}

function recordBatch(length: number, parts: readonly ArrowData[]): FlatTable {
  const nodes = parts.flatMap((part) => part.nodes.flatMap((node) => [node.length, node.nulls]));
  const places: number[] = [];
  let end = 0;
  for (const { byteLength } of buffersOf(parts)) {
    places.push(end, byteLength);
    end += padded(byteLength);
  }
  return { fields: [i64(length), { longs: nodes, per: 2 }, { longs: places, per: 2 }] };
}

function message(type: number, content: FlatTable, parts: readonly ArrowData[]): Uint8Array<ArrayBuffer> {
  const buffers = buffersOf(parts);
  const bodyLength = buffers.reduce((sum, { byteLength }) => sum + padded(byteLength), 0);
  const metadata = writeFlatBuffer({ fields: [i16(metadataV5), u8(type), content, i64(bodyLength)] });
  const bytes = new Uint8Array(8 + metadata.length + bodyLength);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, continuation, true);
  view.setInt32(4, metadata.length, true);
  bytes.set(metadata, 8);
  let place = 8 + metadata.length;
  for (const { buffer, byteOffset, byteLength } of buffers) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), place);
    place += padded(byteLength);
  }
  return bytes;
}

const buffersOf = (parts: readonly ArrowData[]) => parts.flatMap(({ buffers }) => buffers);
const padded = (bytes: number) => Math.ceil(bytes / 8) * 8;
