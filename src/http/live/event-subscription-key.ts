import { appProtocols, wantedProtocols } from '../../contract/app-protocols.ts';
import { parameterOf } from '../../contract/filter-term.ts';
import { wildcardParts } from '../../contract/wildcards.ts';
import type { BlockAssets, End } from '../../events/format/block-assets.ts';
import type { AddressList } from '../../events/format/column-readers.ts';
import { type Column, type ColumnName, columnOf } from '../../events/format/columns.ts';
import type { EventFilter, FilterTerm } from '../../events/query/filter.ts';
import type { Table } from '../../events/records.ts';
import { addressBytes, ipv4Of, printAddress } from '../../net/ip.ts';
import type { SubscriptionKey, SubscriptionValue } from './channel.ts';

/**
 * Fields for looking up subscriptions, the most selective first. Values of filters and blocks are converted to one
 * form: IPv4 addresses become numbers, other addresses become RFC 5952 text, and enums become their index. Texts become
 * lower case if filters ignore case.
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

/**
 * Returns the most selective term of a filter whose values can all be looked up. Negated terms and bounds are skipped,
 * because they match many values.
 */
export function subscriptionKeyOf(table: Table, filter: EventFilter): SubscriptionKey | undefined {
  for (const field of fields[table]) {
    const term = filter.terms.find((one) => parameterOf(one) === field);
    if (term !== undefined && field in assetEnds)
      return { field, values: term.values.map((id) => String(id).toLowerCase()) };
    const given = field === 'app_protocol' ? term?.values.flatMap((one) => wantedProtocols(String(one))) : term?.values;
    const values = given && wanted(columnOf(table, columnsOf(field)[0]!), given);
    if (values) return { field, values };
  }
  return undefined;
}

/**
 * Yields every value of a field in the block. For assets, includes assets that had the addresses at other
 * times.
 */
export function* valuesOf(assets: BlockAssets, field: string): Iterable<SubscriptionValue> {
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

/**
 * Returns the values in the form that `fields` describes; undefined if a value has no such form, such as a CIDR
 * block or a wildcard.
 */
function wanted(column: Column | undefined, values: FilterTerm['values']): SubscriptionValue[] | undefined {
  const written = values.map((value) => write(column, value));
  return written.every((value) => value !== undefined) ? written : undefined;
}

function write(column: Column | undefined, value: FilterTerm['values'][number]): SubscriptionValue | undefined {
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
      // Converts the text to the form in the block: UTF-8, which cannot contain a lone surrogate.
      const [text = '', ...more] = wildcardParts(String(value).toWellFormed());
      if (more.length > 0) return undefined;
      return column.fold === true ? text.toLowerCase() : text;
    }
    default:
      return typeof value === 'number' ? value : undefined;
  }
}

function* addresses(list: AddressList): Iterable<SubscriptionValue> {
  if (list.v4) yield* list.v4;
  else for (let i = 0; i < list.length; i++) yield address(list.bytes, 16 * i);
}

function address(bytes: Uint8Array, offset: number): SubscriptionValue {
  const v4 = ipv4Of(bytes, offset);
  return v4 < 0 ? printAddress(bytes, offset) : v4;
}
