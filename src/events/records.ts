import type { Severity } from '../contract/vocabulary.ts';

/**
 * One event on its way into a block: flat, normalised, `undefined` where unknown. Every producer builds it with all
 * fields in this order, so that V8 sees one shape. Times are epoch milliseconds (integers), addresses any valid
 * text form, texts well-formed Unicode.
 */
export interface NetworkRecord {
  /** An explicit id that the sender chose (UUID), else undefined and the store assigns one. */
  id: string | undefined;
  timestamp: number;
  duration_ms: number | undefined;
  src_ip: string;
  src_port: number | undefined;
  src_mac: string | undefined;
  dst_ip: string;
  dst_port: number | undefined;
  dst_mac: string | undefined;
  transport: string;
  app_protocol: string | undefined;
  src_bytes: number | undefined;
  dst_bytes: number | undefined;
  src_payload_bytes: number | undefined;
  dst_payload_bytes: number | undefined;
  src_packets: number | undefined;
  dst_packets: number | undefined;
  missed_bytes: number | undefined;
  state: 'attempt' | 'open' | 'closed' | 'reset' | 'failed' | 'refused' | 'traffic' | undefined;
  conn_state: string | undefined;
  history: string | undefined;
  direction: 'inbound' | 'outbound' | 'internal' | 'external';
  /** Only where the sensor gave one; otherwise it is computed when read. */
  community_id: string | undefined;
  connection_id: string | undefined;
  vlan: number | undefined;
  sensor: string | undefined;
  source: EventSource;
  severity: Severity;
}

export interface DnsRecord {
  id: string | undefined;
  timestamp: number;
  src_ip: string;
  src_port: number | undefined;
  dst_ip: string;
  dst_port: number | undefined;
  transport: string;
  kind: 'query' | 'response' | 'transaction';
  transaction_id: number | undefined;
  query: string | undefined;
  qtype: string | undefined;
  qclass: string | undefined;
  rcode: number | undefined;
  rcode_name: string | undefined;
  /** JSON text of `answers[] {type, ttl, data}`, undefined where there are none. */
  answers: string | undefined;
  authoritative: boolean | undefined;
  truncated: boolean | undefined;
  recursion_desired: boolean | undefined;
  recursion_available: boolean | undefined;
  rejected: boolean | undefined;
  rtt_ms: number | undefined;
  community_id: string | undefined;
  connection_id: string | undefined;
  sensor: string | undefined;
  source: EventSource;
  severity: Severity;
}

export type EventSource = 'zeek' | 'suricata' | 'ecs' | 'native';
export type Table = 'network' | 'dns';
