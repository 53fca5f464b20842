import { appProtocols } from '../../contract/app-protocols.ts';
import { registeredDomain } from '../../net/registered-domain.ts';
import type { AssetLookup } from '../asset-lookup.ts';
import { eventValues } from '../event-values.ts';
import type { EventBlock } from '../format/block.ts';
import { BlockAssets, type End } from '../format/block-assets.ts';
import { encodings } from '../format/block-format.ts';
import type { AddressList, CodedColumn, NumberColumn, TextList } from '../format/column-readers.ts';
import { type Column, type ColumnName, columnOf } from '../format/columns.ts';
import type { Table } from '../records.ts';
import type { ValueTally } from './value-tally.ts';

/** The rows of a block to count, ascending. */
export type Rows = Uint32Array;

/**
 * Adds the values of these rows to the tally, each value once per row. Returns the number of rows without a value.
 */
export type CountValues = (block: EventBlock, rows: Rows, tally: ValueTally) => number;

/**
 * Returns a function that counts values of a filter field of the table: an attribute, `ip`, `asset_id` or
 * `answer`. Values of dictionaries are read once per block, not once per row.
 *
 * @throws Error if the table has no such field
 */
export function countValues(table: Table, by: string, assets: AssetLookup): CountValues {
  switch (by) {
    case 'ip':
      return countEnds;
    case 'asset_id':
      return byRow((block) => {
        const owners = new BlockAssets(block, assets);
        const idAt = (end: End, row: number) => owners.idAt(end, row);
        return (row) => distinct([idAt('src_ip', row), idAt('dst_ip', row)]);
      });
    case 'src_asset_id':
    case 'dst_asset_id':
    case 'end_time':
    case 'community_id': {
      const read = eventValues(table, by);
      const isTime = by === 'end_time';
      return byRow((block) => {
        const owners = new BlockAssets(block, assets);
        return (row) => {
          const value = read({ block, row, assets: owners });
          return value === undefined ? [] : [isTime ? timeText(Number(value)) : String(value)];
        };
      });
    }
    case 'answer':
      return byEntry(
        (block) => block.texts('answers'),
        (text) => distinct((JSON.parse(text) as { data: string }[]).map(({ data }) => data)),
      );
    case 'app_protocol':
      return byEntry((block) => block.texts('app_protocol'), appProtocols);
    case 'registered_domain':
      return byEntry(
        (block) => block.texts('query'),
        (text) => distinct([registeredDomain(text)]),
      );
    default:
      return countColumn(table, by);
  }
}

function countColumn(table: Table, by: string): CountValues {
  const column: Column | undefined = columnOf(table, by);
  const name = by as ColumnName;
  switch (column?.kind) {
    case 'address':
      return byEntry(
        (block) => block.addresses(name),
        (text) => [text],
      );
    case 'text':
    case 'unique':
      return byEntry(
        (block) => block.texts(name),
        column.fold === true ? (text) => [text.toLowerCase()] : (text) => [text],
      );
    case 'time':
      return byNumber(name, timeText);
    case 'number':
      return byNumber(name, String);
    case 'boolean':
      return byNumber(name, (value) => String(value === 1));
    case 'enum':
      return byNumber(name, (place) => column.values[place]!);
    case undefined:
      throw new Error(`attribute ${by} of ${table} events has no column`);
  }
}

const timeText = (time: number): string => new Date(time).toISOString();

const distinct = (values: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(values.filter((value) => value !== undefined)),
];

function byEntry(
  columnIn: (block: EventBlock) => CodedColumn<AddressList | TextList>,
  valuesOf: (text: string) => readonly string[],
): CountValues {
  return (block, rows, tally) => {
    const column = columnIn(block);
    const counts = new Uint32Array(column.list.length + 1);
    for (const row of rows) counts[column.code(row)]!++;
    let absent = counts[0]!;
    for (let code = 1; code < counts.length; code++) {
      const count = counts[code]!;
      if (count === 0) continue;
      const values = valuesOf(column.list.text(code - 1));
      if (values.length === 0) absent += count;
      for (const value of values) tally.add(value, count);
    }
    return absent;
  };
}

function byNumber(name: ColumnName, textOf: (value: number) => string): CountValues {
  return (block, rows, tally) => {
    const column = block.numbers(name);
    if (column.encoding === encodings.absent || rows.length === 0) return rows.length;
    const counts = numberCounts(column, rows);
    let absent = 0;
    for (const [value, count] of counts) {
      if (Number.isNaN(value)) absent += count;
      else tally.add(textOf(value), count);
    }
    return absent;
  };
}

function numberCounts(column: NumberColumn, rows: Rows): Map<number, number> {
  const counts = new Map<number, number>();
  if (column.encoding === encodings.constant) return counts.set(column.base, rows.length);
  for (const row of rows) {
    const value = column.at(row);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

/** Counts source and destination addresses. A row with the same address at both ends counts once. */
const countEnds: CountValues = (block, rows, tally) => {
  const src = block.addresses('src_ip');
  const dst = block.addresses('dst_ip');
  const address = new Uint8Array(16);
  const codeInSrc = new Uint32Array(dst.list.length + 1);
  for (let entry = 0; entry < dst.list.length; entry++) {
    dst.list.write(entry, address, 0);
    codeInSrc[entry + 1] = src.list.placeOf(address) + 1;
  }
  const srcCounts = new Uint32Array(src.list.length + 1);
  const dstCounts = new Uint32Array(dst.list.length + 1);
  for (const row of rows) {
    const from = src.code(row);
    const to = dst.code(row);
    srcCounts[from]!++;
    if (codeInSrc[to] !== from) dstCounts[to]!++;
  }
  for (const [{ list }, counts] of [
    [src, srcCounts],
    [dst, dstCounts],
  ] as const)
    for (let code = 1; code < counts.length; code++)
      if (counts[code]! > 0) tally.add(list.text(code - 1), counts[code]!);
  return 0;
};

function byRow(reader: (block: EventBlock) => (row: number) => readonly string[]): CountValues {
  return (block, rows, tally) => {
    const valuesAt = reader(block);
    let absent = 0;
    for (const row of rows) {
      const values = valuesAt(row);
      if (values.length === 0) absent++;
      for (const value of values) tally.add(value, 1);
    }
    return absent;
  };
}
