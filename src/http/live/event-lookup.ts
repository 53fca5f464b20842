import { appProtocols, wantedProtocols } from '../../contract/app-protocols.ts';
import { wildcardParts } from '../../contract/wildcards.ts';
import type { BlockAssets, End } from '../../events/block-assets.ts';
import type { AddressList } from '../../events/column-readers.ts';
import { type Column, type ColumnName, columnOf } from '../../events/columns.ts';
import type { EventFilter, FilterTerm } from '../../events/filter.ts';
import { addressBytes, ipv4Of, printAddress } from '../../events/ip.ts';
import type { Table } from '../../events/records.ts';
import type { Lookup, LookupValue } from './channel.ts';

/**
 * Fields by which subscriptions are looked up, the most telling first. The value of a field is written in one way
 * only, whatever the filter and the block wrote: IPv4 addresses as numbers, other addresses as RFC 5952 text, enums as
 * their place, texts without case where filters compare so.
 */
const fields: Readonly<Record<Table, readonly string[]>> = {
  network: [
    'connection_id',
    'src_ip',
    'dst_ip',
    'ip',
    'src_asset_id',
    'dst_asset_id',
    'asset_id',
    'src_mac',
    'dst_mac',
    'src_port',
    'dst_port',
    'vlan',
    'app_protocol',
    'conn_state',
    'state',
    'sensor',
  ],
  dns: [
    'connection_id',
    'query',
    'src_ip',
    'dst_ip',
    'ip',
    'src_asset_id',
    'dst_asset_id',
    'asset_id',
    'src_port',
    'transaction_id',
    'qtype',
    'rcode_name',
    'sensor',
  ],
};

/** The most telling of a filter's terms all of whose values can be looked up. What is negated is true of anything. */
export function lookupOf(table: Table, filter: EventFilter): Lookup | undefined {
  for (const field of fields[table]) {
    const term = filter.terms.find((one) => one.field === field && one.negated !== true);
    if (term !== undefined && field in assetEnds)
      return { field, values: term.values.map((id) => String(id).toLowerCase()) };
    const given =
      field === 'app_protocol' ? term?.values.flatMap((one) => wantedProtocols(String(one))) : term?.values;
    const values = given && wanted(columnOf(table, columnsOf(field)[0]!), given);
    if (values) return { field, values };
  }
  return undefined;
}

/** Every value that one of `fields` has in the block; of assets also those that had its addresses at other times. */
export function* valuesOf(assets: BlockAssets, field: string): Iterable<LookupValue> {
  if (field in assetEnds) return yield* assets.ids(assetEnds[field as keyof typeof assetEnds]);
  const { block } = assets;
  for (const name of columnsOf(field)) {
    const column = columnOf(block.table, name);
    switch (column?.kind) {
      case 'address':
        yield* addresses(block.addresses(name).list);
        break;
      case 'text':
      case 'unique': {
        const { list } = block.texts(name);
        for (let i = 0; i < list.length; i++)
          if (name === 'app_protocol') yield* appProtocols(list.text(i));
          else yield column.fold === true ? list.text(i).toLowerCase() : list.text(i);
        break;
      }
      default: {
        const numbers = block.numbers(name);
        const seen = new Set<number>();
        for (let row = 0; row < block.rows; row++) seen.add(numbers.at(row));
        yield* seen;
      }
    }
  }
}

const assetEnds = {
  src_asset_id: ['src_ip'],
  dst_asset_id: ['dst_ip'],
  asset_id: ['src_ip', 'dst_ip'],
} as const satisfies Record<string, readonly End[]>;

const columnsOf = (field: string): readonly ColumnName[] =>
  field === 'ip' ? ['src_ip', 'dst_ip'] : [field as ColumnName];

/** Undefined where a value covers more than one, as CIDR blocks and wildcards do. */
function wanted(column: Column | undefined, values: FilterTerm['values']): LookupValue[] | undefined {
  const written = values.map((value) => write(column, value));
  return written.every((value) => value !== undefined) ? written : undefined;
}

function write(column: Column | undefined, value: FilterTerm['values'][number]): LookupValue | undefined {
  switch (column?.kind) {
    case 'address': {
      const bytes = addressBytes(String(value));
      return bytes && address(bytes, 0);
    }
    case 'enum': {
      const place = column.values.indexOf(String(value));
      return place < 0 ? undefined : place;
    }
    case 'text':
    case 'unique': {
      // As the block has it: in UTF-8, where a lone surrogate cannot be.
      const [text = '', ...more] = wildcardParts(String(value).toWellFormed());
      if (more.length > 0) return undefined;
      return column.fold === true ? text.toLowerCase() : text;
    }
    default:
      return typeof value === 'number' ? value : undefined;
  }
}

function* addresses(list: AddressList): Iterable<LookupValue> {
  if (list.v4) yield* list.v4;
  else for (let i = 0; i < list.length; i++) yield address(list.bytes, 16 * i);
}

function address(bytes: Uint8Array, offset: number): LookupValue {
  const v4 = ipv4Of(bytes, offset);
  return v4 < 0 ? printAddress(bytes, offset) : v4;
}
