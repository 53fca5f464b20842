import type { DnsRecord, NetworkRecord, WithSpans } from '../events/records.ts';

/*
 * Reusable records. Each reader has one record, which it fills and returns for each event. The reader sets `id`,
 * `sensor`, `source`, `severity` and all other fields that its format has. The record is valid until the next event is
 * read. This saves 250 bytes of garbage per record. Code that keeps an event must copy it, as blocks do. All records
 * are created here, so that V8 sees one shape.
 */

export const newNetworkRecord = (): WithSpans<NetworkRecord> => ({
  id: undefined,
  timestamp: 0,
  duration_ms: undefined,
  src_ip: '',
  src_port: undefined,
  src_mac: undefined,
  dst_ip: '',
  dst_port: undefined,
  dst_mac: undefined,
  transport: '',
  app_protocol: undefined,
  src_bytes: undefined,
  dst_bytes: undefined,
  src_payload_bytes: undefined,
  dst_payload_bytes: undefined,
  src_packets: undefined,
  dst_packets: undefined,
  missed_bytes: undefined,
  state: undefined,
  conn_state: undefined,
  history: undefined,
  direction: 'external',
  community_id: undefined,
  connection_id: undefined,
  vlan: undefined,
  sensor: undefined,
  source: 'native',
  severity: 'informational',
});

export const newDnsRecord = (): WithSpans<DnsRecord> => ({
  id: undefined,
  timestamp: 0,
  src_ip: '',
  src_port: undefined,
  dst_ip: '',
  dst_port: undefined,
  transport: '',
  kind: 'query',
  transaction_id: undefined,
  query: undefined,
  qtype: undefined,
  qclass: undefined,
  rcode: undefined,
  rcode_name: undefined,
  answers: undefined,
  authoritative: undefined,
  truncated: undefined,
  recursion_desired: undefined,
  recursion_available: undefined,
  rejected: undefined,
  rtt_ms: undefined,
  community_id: undefined,
  connection_id: undefined,
  sensor: undefined,
  source: 'native',
  severity: 'informational',
});
