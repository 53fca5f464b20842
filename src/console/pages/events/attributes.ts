import type { DnsEvent } from '../../../contract/resources/dns-event.ts';
import type { NetworkEvent } from '../../../contract/resources/network-event.ts';
import type { PivotKind } from '../../ui/values.tsx';

/** The format of a value. */
export type Writing =
  | 'time'
  | 'duration'
  | 'bytes'
  | 'count'
  | 'port'
  | 'address'
  | 'code'
  | 'word'
  | 'flag'
  | 'severity'
  | 'asset'
  | 'answers';

export const groups = {
  time: 'Time',
  ends: 'Endpoints',
  traffic: 'Traffic',
  protocol: 'Protocol',
  dns: 'Query and response',
  ids: 'Identifiers',
  sensor: 'Sensor',
} as const;
export type Group = keyof typeof groups;

/** The display of an attribute of events. */
export interface Attribute {
  readonly title: string;
  readonly group: Group;
  readonly as: Writing;
  readonly pivot?: PivotKind;
  /** Width as a column, in pixels. */
  readonly width: number;
  /** Minimum table width in pixels at which a default column is shown. */
  readonly from?: number;
}

const common = {
  timestamp: { title: 'Time', group: 'time', as: 'time', width: 172 },
  severity: { title: 'Severity', group: 'sensor', as: 'severity', width: 84 },
  src_ip: { title: 'Source', group: 'ends', as: 'address', pivot: 'address', width: 130 },
  src_port: { title: 'Source port', group: 'ends', as: 'port', pivot: 'port', width: 84 },
  src_asset_id: { title: 'Source asset', group: 'ends', as: 'asset', width: 140 },
  dst_ip: { title: 'Destination', group: 'ends', as: 'address', pivot: 'address', width: 130 },
  dst_port: { title: 'Destination port', group: 'ends', as: 'port', pivot: 'port', width: 110 },
  dst_asset_id: { title: 'Destination asset', group: 'ends', as: 'asset', width: 140 },
  transport: { title: 'Transport', group: 'protocol', as: 'word', width: 76 },
  connection_id: { title: 'Connection', group: 'ids', as: 'code', pivot: 'connection', width: 160 },
  community_id: { title: 'Community ID', group: 'ids', as: 'code', pivot: 'flow', width: 240 },
  sensor: { title: 'Sensor', group: 'sensor', as: 'word', width: 100 },
  sensor_id: { title: 'Sensor ID', group: 'sensor', as: 'code', width: 240 },
  source: { title: 'Format', group: 'sensor', as: 'word', width: 72 },
  received_at: { title: 'Received', group: 'time', as: 'time', width: 172 },
} as const satisfies Record<string, Attribute>;

const network = {
  ...common,
  end_time: { title: 'End', group: 'time', as: 'time', width: 172 },
  duration_ms: { title: 'Duration', group: 'time', as: 'duration', width: 76, from: 960 },
  src_mac: { title: 'Source MAC', group: 'ends', as: 'code', width: 140 },
  dst_mac: { title: 'Destination MAC', group: 'ends', as: 'code', width: 140 },
  direction: { title: 'Direction', group: 'ends', as: 'word', width: 84 },
  vlan: { title: 'VLAN', group: 'ends', as: 'port', width: 60 },
  app_protocol: { title: 'Application', group: 'protocol', as: 'word', width: 90 },
  app_protocols: { title: 'Applications', group: 'protocol', as: 'word', width: 120 },
  app_protocol_stored: { title: 'Applications (sensor)', group: 'protocol', as: 'code', width: 120 },
  state: { title: 'State', group: 'protocol', as: 'word', width: 76, from: 760 },
  conn_state: { title: 'State (sensor)', group: 'protocol', as: 'code', width: 100 },
  history: { title: 'History', group: 'protocol', as: 'code', width: 120 },
  src_bytes: { title: 'Sent', group: 'traffic', as: 'bytes', width: 84 },
  dst_bytes: { title: 'Received', group: 'traffic', as: 'bytes', width: 84 },
  src_payload_bytes: { title: 'Request payload', group: 'traffic', as: 'bytes', width: 96 },
  dst_payload_bytes: { title: 'Response payload', group: 'traffic', as: 'bytes', width: 120 },
  src_packets: { title: 'Packets sent', group: 'traffic', as: 'count', width: 96 },
  dst_packets: { title: 'Packets received', group: 'traffic', as: 'count', width: 120 },
  missed_bytes: { title: 'Missed bytes', group: 'traffic', as: 'bytes', width: 84 },
} as const satisfies Record<keyof NetworkEvent, Attribute>;

const dns = {
  ...common,
  src_ip: { ...common.src_ip, title: 'Client' },
  src_port: { ...common.src_port, title: 'Client port' },
  src_asset_id: { ...common.src_asset_id, title: 'Client asset' },
  dst_ip: { ...common.dst_ip, title: 'Resolver' },
  dst_port: { ...common.dst_port, title: 'Resolver port' },
  dst_asset_id: { ...common.dst_asset_id, title: 'Resolver asset' },
  kind: { title: 'Kind', group: 'protocol', as: 'word', width: 90 },
  query: { title: 'Query', group: 'dns', as: 'code', pivot: 'domain', width: 260 },
  registered_domain: { title: 'Domain', group: 'dns', as: 'code', pivot: 'domain', width: 170 },
  qtype: { title: 'Type', group: 'dns', as: 'word', width: 60, from: 480 },
  qclass: { title: 'Class', group: 'dns', as: 'word', width: 60 },
  rcode_name: { title: 'Response', group: 'dns', as: 'word', width: 90, from: 480 },
  rcode: { title: 'Response code', group: 'dns', as: 'port', width: 104 },
  answers: { title: 'Answers', group: 'dns', as: 'answers', width: 260, from: 760 },
  rtt_ms: { title: 'Round trip', group: 'time', as: 'duration', width: 80, from: 960 },
  transaction_id: { title: 'Transaction ID', group: 'ids', as: 'port', width: 84 },
  authoritative: { title: 'Authoritative', group: 'protocol', as: 'flag', width: 96 },
  truncated: { title: 'Truncated', group: 'protocol', as: 'flag', width: 84 },
  recursion_desired: { title: 'Recursion desired', group: 'protocol', as: 'flag', width: 120 },
  recursion_available: { title: 'Recursion available', group: 'protocol', as: 'flag', width: 130 },
  rejected: { title: 'Rejected', group: 'protocol', as: 'flag', width: 76 },
} as const satisfies Record<keyof DnsEvent, Attribute>;

/** The attributes of each table by name. */
export const attributes: Readonly<Record<'network' | 'dns', Readonly<Record<string, Attribute>>>> = {
  network,
  dns,
};

/** Returns the name of the filter for values of an attribute. */
export const filterOf = (attribute: string): string => membersOf[attribute] ?? attribute;
const membersOf: Readonly<Record<string, string>> = {
  answers: 'answer',
  app_protocols: 'app_protocol',
  app_protocol_stored: 'app_protocol',
};
