import { shownProtocols } from '../contract/app-protocols.ts';
import { registeredDomain } from '../net/registered-domain.ts';
import type { EventBlock } from './format/block.ts';
import type { BlockAssets } from './format/block-assets.ts';
import { type Column, columnIndex, columnOf } from './format/columns.ts';
import type { Table } from './records.ts';
import { endTime, rowCommunityId, rowId } from './resource.ts';

/** A row of a block, with the assets of that block. */
export interface EventRow {
  readonly block: EventBlock;
  readonly row: number;
  readonly assets: BlockAssets;
}

/**
 * The value of an attribute: a time as epoch milliseconds, a list of objects as JSON; undefined if the event
 * does not have the attribute.
 */
export type EventValue = string | number | boolean | readonly string[] | undefined;

type ReadValue = (row: EventRow) => EventValue;

/**
 * Returns a reader of an attribute of the contract, or of the id, with the values that `writeEventJson`
 * writes.
 *
 * @throws Error if events of the table have no such attribute
 */
export function eventValues(table: Table, attribute: string): ReadValue {
  const derived = derivedValues[attribute];
  if (derived !== undefined) return derived;
  const column = columnOf(table, attribute);
  if (column === undefined) throw new Error(`attribute ${attribute} of ${table} events has no column`);
  return storedValues(column, columnIndex[table].get(attribute)!);
}

function storedValues(column: Column, place: number): ReadValue {
  switch (column.kind) {
    case 'time':
    case 'number':
      return ({ block, row }) => known(block.numbersAt(place).at(row));
    case 'boolean':
      return ({ block, row }) => {
        const value = block.numbersAt(place).at(row);
        return Number.isNaN(value) ? undefined : value === 1;
      };
    case 'enum':
      return ({ block, row }) => column.values[block.numbersAt(place).at(row)];
    case 'address':
      return ({ block, row }) => block.addressesAt(place).text(row);
    case 'text':
    case 'unique':
      return ({ block, row }) => block.textsAt(place).text(row);
  }
}

const derivedValues: Readonly<Record<string, ReadValue>> = {
  id: ({ block, row }) => rowId(block, row),
  end_time: ({ block, row }) =>
    known(endTime(block.numbers('timestamp').at(row), block.numbers('duration_ms').at(row))),
  community_id: ({ block, row }) => rowCommunityId(block, row),
  registered_domain: ({ block, row }) => {
    const query = block.texts('query').text(row);
    return query === undefined ? undefined : registeredDomain(query);
  },
  app_protocol: (row) => protocolsOf(row)?.app_protocol,
  app_protocols: (row) => protocolsOf(row)?.app_protocols,
  app_protocol_stored: (row) => protocolsOf(row)?.app_protocol_stored,
  src_asset_id: ({ assets, row }) => assets.idAt('src_ip', row),
  dst_asset_id: ({ assets, row }) => assets.idAt('dst_ip', row),
};

function protocolsOf({ block, row }: EventRow): ReturnType<typeof shownProtocols> | undefined {
  const stored = block.texts('app_protocol').text(row);
  return stored === undefined ? undefined : shownProtocols(stored);
}

const known = (value: number): number | undefined => (Number.isNaN(value) ? undefined : value);
