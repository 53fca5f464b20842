import { shownProtocols } from '../contract/app-protocols.ts';
import type { DnsEvent } from '../contract/resources/dns-event.ts';
import type { NetworkEvent } from '../contract/resources/network-event.ts';
import { communityId } from '../net/community-id.ts';
import { registeredDomain } from '../net/registered-domain.ts';
import { eventId } from './event-id.ts';
import type { EventBlock } from './format/block.ts';
import type { BlockAssets, End } from './format/block-assets.ts';
import { columnIndex, columnNames, columnOf, maxTime } from './format/columns.ts';
import type { Table } from './records.ts';

const minuteMs = 60_000;
/** Minutes whose texts are cached. Each minute is stored at its index modulo the size. */
const minutes = new Float64Array(64).fill(-1);
const prefixes: string[] = [];

/**
 * Returns the text of `new Date(time).toISOString()`, for whole milliseconds of the years 1970–9999. The events of a
 * page fall into few minutes, and the texts of these minutes are cached: a call takes 0.05 µs instead of 0.5 µs.
 */
export function isoTime(time: number): string {
  const minute = Math.floor(time / minuteMs);
  const place = minute % minutes.length;
  if (minutes[place] !== minute) {
    prefixes[place] = new Date(minute * minuteMs).toISOString().slice(0, 17);
    minutes[place] = minute;
  }
  const rest = time - minute * minuteMs;
  const second = Math.floor(rest / 1000);
  return prefixes[place]! + seconds[second]! + milliseconds[rest - second * 1000]!;
}

const seconds = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(2, '0')}.`);
const milliseconds = Array.from({ length: 1000 }, (_, n) => `${String(n).padStart(3, '0')}Z`);

/**
 * Returns a row as the resource of the contract. Derived values are computed here: the id if the sender chose none,
 * `end_time`, `community_id` if the sensor sent none, `registered_domain`, and the ids of assets.
 *
 * @param assets - of the same block; without it, the resource has no assets
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

/** Returns the resource `{"id":…,"type":…,"attributes":{…}}` as JSON text. */
export function writeEventJson(block: EventBlock, row: number, assets?: BlockAssets): string {
  const head = `{"id":"${rowId(block, row)}","type":"${resourceTypes[block.table]}","attributes":{`;
  let body = '';
  for (const write of writers[block.table]) body += write(block, row, assets);
  // Every attribute begins with a comma, so the first comma is removed.
  return `${head}${body.slice(1)}}}`;
}

export const resourceTypes = { network: 'network_event', dns: 'dns_event' } as const satisfies Record<Table, string>;

/** Returns the sender's id, otherwise the id derived from timestamp and sequence. */
export function rowId(block: EventBlock, row: number): string {
  return block.texts('id').text(row) ?? eventId(block.table, block.numbers('timestamp').at(row), block.firstSeq + row);
}

/** Returns the end time in whole milliseconds; NaN if the duration is unknown or the end is after the year 9999. */
export function endTime(timestamp: number, durationMs: number): number {
  const end = Math.round(timestamp + durationMs);
  return end <= maxTime ? end : Number.NaN;
}

/** Returns the sensor's community id, otherwise the computed id; undefined for flows without an id. */
export function rowCommunityId(block: EventBlock, row: number): string | undefined {
  return block.texts('community_id').text(row) ?? communityId(flowReader(block)(row));
}

/** Returns a function that reads a row's flow into a reused object. */
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

/** Derived attributes of the contract, by the column after which they are listed. */
const derived: Readonly<Record<string, readonly (keyof NetworkEvent | keyof DnsEvent)[]>> = {
  duration_ms: ['end_time'],
  app_protocol: ['app_protocols', 'app_protocol_stored'],
  query: ['registered_domain'],
  severity: ['src_asset_id', 'dst_asset_id'],
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

/** Writers of attributes that are derived, or stored in another form. */
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
  /** Writes the answers, which are stored as JSON. */
  answers: (key) => (block, row) => {
    const answers = block.texts('answers').text(row);
    return answers === undefined ? '' : key + answers;
  },
};

function protocolWriter(name: 'app_protocol' | 'app_protocols' | 'app_protocol_stored'): (key: string) => Writer {
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

/** The columns that are attributes. The compiler rejects a column that the contract does not have. */
const stored: { readonly network: readonly (keyof NetworkEvent)[]; readonly dns: readonly (keyof DnsEvent)[] } = {
  network: columnNames.network.filter((name) => name !== 'id'),
  dns: columnNames.dns.filter((name) => name !== 'id'),
};

/**
 * Returns the names of all attributes: the columns except the id, in order, each followed by its derived attributes.
 */
export const attributesOf = (table: Table): string[] =>
  [...stored[table]].flatMap((name: string) => [name, ...(derived[name] ?? [])]);

const writers: Readonly<Record<Table, readonly Writer[]>> = {
  network: attributesOf('network').map((name) => attributeWriter('network', name)),
  dns: attributesOf('dns').map((name) => attributeWriter('dns', name)),
};
