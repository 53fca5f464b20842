import type { DnsRecord } from '../../../src/events/records.ts';
import { start } from '../../store/opened.ts';

export function dnsRecord(changes: Partial<DnsRecord> = {}): DnsRecord {
  return {
    id: undefined,
    timestamp: start,
    src_ip: '10.0.0.1',
    src_port: 4711,
    dst_ip: '10.0.0.53',
    dst_port: 53,
    transport: 'udp',
    kind: 'transaction',
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
    ...changes,
  };
}
