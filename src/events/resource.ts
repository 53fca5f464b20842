import { shownProtocols } from '../contract/app-protocols.ts';
import type { DnsEvent } from '../contract/resources/dns-event.ts';
import type { NetworkEvent } from '../contract/resources/network-event.ts';
import type { EventBlock } from './block.ts';
import type { BlockAssets, End } from './block-assets.ts';
import { columnIndex, columnOf, maxTime } from './columns.ts';
import { communityId } from './community-id.ts';
import { eventId } from './event-id.ts';
import { isoTime } from './iso-time.ts';
import type { Table } from './records.ts';
import { registeredDomain } from './registered-domain.ts';

/**
 * A row as the contract shows it. What can be derived is derived here: the id where the sender chose none, `end_time`,
 * `community_id` where the sensor gave none, `registered_domain`, and the ids of assets.
 *
 * @param assets - of the same block; without them no asset is named
 */
export function readEvent(
  block: EventBlock,
  row: number,
  assets?: BlockAssets,
): { id: string; attributes: NetworkEvent | DnsEvent } {
  const { id, attributes } = JSON.parse(writeEventJson(block, row, assets)) as {
    id: string;
    attributes: NetworkEvent | DnsEvent;
  };
  return { id, attributes };
}

/** The resource `{"id":…,"type":…,"attributes":{…}}` as JSON text. */
export function writeEventJson(block: EventBlock, row: number, assets?: BlockAssets): string {
  const head = `{"id":"${rowId(block, row)}","type":"${resourceTypes[block.table]}","attributes":{`;
  let body = '';
  for (const write of writers[block.table]) body += write(block, row, assets);
  // Every attribute brings its comma; the first has none before it.
  return `${head}${body.slice(1)}}}`;
}

export const resourceTypes = { network: 'network_event', dns: 'dns_event' } as const satisfies Record<
  Table,
  string
>;

/** The sender's id, else the one that timestamp and sequence make. */
export function rowId(block: EventBlock, row: number): string {
  return (
    block.texts('id').text(row) ??
    eventId(block.table, block.numbers('timestamp').at(row), block.firstSeq + row)
  );
}

/** Start plus duration in whole milliseconds; NaN where unknown or beyond the year 9999. */
export function endTime(timestamp: number, durationMs: number): number {
  const end = Math.round(timestamp + durationMs);
  return end <= maxTime ? end : Number.NaN;
}

/** The sensor's community id, else the computed one. */
export function rowCommunityId(block: EventBlock, row: number): string | undefined {
  return block.texts('community_id').text(row) ?? communityId(flowReader(block)(row));
}

/** Reads the flow of each row into an object that the next call fills anew. */
export function flowReader(block: EventBlock): (row: number) => typeof flow {
  const src = block.addresses('src_ip');
  const dst = block.addresses('dst_ip');
  const transport = block.texts('transport');
  const srcPort = block.numbers('src_port');
  const dstPort = block.numbers('dst_port');
  return (row) => {
    src.list.write(src.code(row) - 1, flow.src, 0);
    dst.list.write(dst.code(row) - 1, flow.dst, 0);
    flow.transport = transport.text(row) ?? '';
    flow.srcPort = srcPort.at(row);
    flow.dstPort = dstPort.at(row);
    return flow;
  };
}

const flow = {
  src: new Uint8Array(16),
  srcOffset: 0,
  dst: new Uint8Array(16),
  dstOffset: 0,
  transport: '',
  srcPort: 0,
  dstPort: 0,
};

type Writer = (block: EventBlock, row: number, assets: BlockAssets | undefined) => string;

/** Every attribute of the contract, in the order in which it is written. */
const attributes = {
  network: [
    'timestamp',
    'end_time',
    'duration_ms',
    'src_ip',
    'src_port',
    'src_mac',
    'dst_ip',
    'dst_port',
    'dst_mac',
    'transport',
    'app_protocol',
    'app_protocols',
    'app_protocol_stored',
    'src_bytes',
    'dst_bytes',
    'src_payload_bytes',
    'dst_payload_bytes',
    'src_packets',
    'dst_packets',
    'missed_bytes',
    'state',
    'conn_state',
    'history',
    'direction',
    'community_id',
    'connection_id',
    'vlan',
    'sensor',
    'source',
    'severity',
    'src_asset_id',
    'dst_asset_id',
    'received_at',
    'sensor_id',
  ],
  dns: [
    'timestamp',
    'src_ip',
    'src_port',
    'dst_ip',
    'dst_port',
    'transport',
    'kind',
    'transaction_id',
    'query',
    'registered_domain',
    'qtype',
    'qclass',
    'rcode',
    'rcode_name',
    'answers',
    'authoritative',
    'truncated',
    'recursion_desired',
    'recursion_available',
    'rejected',
    'rtt_ms',
    'connection_id',
    'community_id',
    'sensor',
    'source',
    'severity',
    'src_asset_id',
    'dst_asset_id',
    'received_at',
    'sensor_id',
  ],
} as const satisfies {
  network: readonly (keyof NetworkEvent)[];
  dns: readonly (keyof DnsEvent)[];
};

function attributeWriter(table: Table, name: string): Writer {
  const key = `,"${name}":`;
  const special = specialWriters[name];
  if (special !== undefined) return special(key);
  const column = columnOf(table, name);
  const place = columnIndex[table].get(name)!;
  switch (column?.kind) {
    case 'time':
      return (block, row) => timeJson(key, block.numbersAt(place).at(row));
    case 'number':
      return (block, row) => {
        const value = block.numbersAt(place).at(row);
        return Number.isNaN(value) ? '' : key + value;
      };
    case 'boolean':
      return (block, row) => {
        const value = block.numbersAt(place).at(row);
        return Number.isNaN(value) ? '' : key + (value === 1);
      };
    case 'enum': {
      const words = column.values.map((word) => `${key}"${word}"`);
      return (block, row) => words[block.numbersAt(place).at(row)] ?? '';
    }
    case 'address':
      return (block, row) => `${key}"${block.addressesAt(place).text(row)}"`;
    case 'text':
    case 'unique':
      return (block, row) => textJson(key, block.textsAt(place).text(row));
    default:
      throw new Error(`attribute ${name} of ${table} events has no column`);
  }
}

/** Attributes that are derived, or stored otherwise than they are shown. */
const specialWriters: Readonly<Record<string, (key: string) => Writer>> = {
  end_time: (key) => (block, row) =>
    timeJson(key, endTime(block.numbers('timestamp').at(row), block.numbers('duration_ms').at(row))),
  community_id: (key) => (block, row) => textJson(key, rowCommunityId(block, row)),
  registered_domain: (key) => (block, row) => {
    const query = block.texts('query').text(row);
    return query === undefined ? '' : textJson(key, registeredDomain(query));
  },
  src_asset_id: (key) => assetWriter(key, 'src_ip'),
  dst_asset_id: (key) => assetWriter(key, 'dst_ip'),
  app_protocol: protocolWriter('app_protocol'),
  app_protocols: protocolWriter('app_protocols'),
  app_protocol_stored: protocolWriter('app_protocol_stored'),
  /** Stored as JSON. */
  answers: (key) => (block, row) => {
    const answers = block.texts('answers').text(row);
    return answers === undefined ? '' : key + answers;
  },
};

function protocolWriter(
  name: 'app_protocol' | 'app_protocols' | 'app_protocol_stored',
): (key: string) => Writer {
  return (key) => (block, row) => {
    const stored = block.texts('app_protocol').text(row);
    const value = stored === undefined ? undefined : shownProtocols(stored)[name];
    return value === undefined ? '' : key + JSON.stringify(value);
  };
}

function assetWriter(key: string, end: End): Writer {
  return (_block, row, assets) => {
    const id = assets?.idAt(end, row);
    return id === undefined ? '' : `${key}"${id}"`;
  };
}

function timeJson(key: string, time: number): string {
  return Number.isNaN(time) ? '' : `${key}"${isoTime(time)}"`;
}

function textJson(key: string, text: string | undefined): string {
  return text === undefined ? '' : key + JSON.stringify(text);
}

const writers: Readonly<Record<Table, readonly Writer[]>> = {
  network: attributes.network.map((name) => attributeWriter('network', name)),
  dns: attributes.dns.map((name) => attributeWriter('dns', name)),
};
