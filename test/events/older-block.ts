import { type EventBlock, openBlock, partStarts } from '../../src/events/format/block.ts';
import { aligned, entryBytes, firstMagic, headEnd } from '../../src/events/format/block-format.ts';
import { columnNames, columnOf } from '../../src/events/format/columns.ts';

/** Returns the same events in the block format before tails and principals were added. */
export function olderBlock(buffer: ArrayBuffer): ArrayBuffer {
  const block = openBlock(buffer, 0);
  const { header, table } = block;
  const names = columnNames[table].filter((name) => name !== 'sensor_id');
  const starts = partStarts(header);
  const parts = names.map((name, column) => {
    const tail = header.tailBytes(column);
    const codesTail = columnOf(table, name)?.kind === 'unique' ? tail : 0;
    const codes = new Uint8Array(buffer, starts[2 * column], header.codesBytes(column) - codesTail);
    const isAddress = columnOf(table, name)?.kind === 'address';
    const inHeader = header.dictionaryBytes(column) === 0;
    const list = isAddress ? block.addressList(name) : undefined;
    const plain = list === undefined ? undefined : (list.v4 ?? list.bytes);
    const dictionary =
      plain === undefined
        ? new Uint8Array(buffer, starts[2 * column + 1], header.dictionaryBytes(column))
        : new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength);
    return isAddress && inHeader
      ? { codes, dictionary: new Uint8Array(0), inline: dictionary }
      : { codes, dictionary, inline: header.inline(column) };
  });
  const headerBytes =
    headEnd +
    entryBytes * names.length +
    names.reduce((sum, name, column) => sum + (isText(table, name) ? aligned(parts[column]!.inline.length) : 0), 0);
  const size = parts.reduce(
    (sum, { codes, dictionary }) => sum + aligned(codes.length) + aligned(dictionary.length),
    0,
  );
  const older = new ArrayBuffer(headerBytes + size);
  const bytes = new Uint8Array(older);
  const view = new DataView(older);
  bytes.set(new Uint8Array(buffer, 0, headEnd + entryBytes * names.length));
  view.setUint32(0, firstMagic, true);
  view.setUint8(5, names.length);
  view.setUint16(6, 0, true);
  view.setUint32(12, headerBytes, true);
  let inlineAt = headEnd + entryBytes * names.length;
  let partAt = headerBytes;
  names.forEach((name, column) => {
    const { codes, dictionary, inline } = parts[column]!;
    const entry = headEnd + entryBytes * column;
    view.setUint32(entry + 4, codes.length, true);
    view.setUint32(entry + 8, dictionary.length, true);
    if (isText(table, name)) {
      view.setUint32(entry + 16, inline.length === 0 ? 0 : inlineAt, true);
      view.setUint32(entry + 20, inline.length, true);
      view.setFloat64(entry + 24, 0, true);
      bytes.set(inline, inlineAt);
      inlineAt += aligned(inline.length);
    }
    bytes.set(codes, partAt);
    partAt += aligned(codes.length);
    bytes.set(dictionary, partAt);
    partAt += aligned(dictionary.length);
  });
  return older;
}

/** Columns that may have a dictionary in the header. */
function isText(table: EventBlock['table'], name: (typeof columnNames)[EventBlock['table']][number]): boolean {
  const kind = columnOf(table, name)?.kind;
  return kind === 'address' || kind === 'text' || kind === 'unique';
}
