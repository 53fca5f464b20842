import { describe, expect, it } from 'vitest';
import { columnNames } from '../../src/events/format/columns.ts';
import type { Table } from '../../src/events/records.ts';
import { events, one, parse } from './ingesting.ts';

const network = {
  type: 'network_event',
  timestamp: '2026-01-01T00:00:00.000Z',
  src_ip: '10.0.0.1',
  dst_ip: '2001:db8::1',
  transport: 'TCP',
};
const dns = { ...network, type: 'dns_event', transport: 'udp', kind: 'query' };
const id = '0192a4e0-0000-7000-8000-00000000000A';

/** Columns that the service determines. */
const determined = ['direction', 'source', 'received_at', 'sensor_id'];
/** Returns the columns that a sender can set, and that a record does not set. */
const unset = (table: Table, record: object) =>
  columnNames[table].filter((name) => !determined.includes(name) && !(name in record));

describe('native events', () => {
  it('are read with every field of a network event', () => {
    const told = {
      duration_ms: 1.5,
      src_port: 1,
      src_mac: '00:00:00:00:00:0a',
      dst_port: 65535,
      dst_mac: '00:00:00:00:00:0b',
      app_protocol: 'tls',
      app_protocols: ['tls'],
      src_bytes: 1,
      dst_bytes: 2,
      src_payload_bytes: 3,
      dst_payload_bytes: 4,
      src_packets: 5,
      dst_packets: 6,
      missed_bytes: 7,
      state: 'refused',
      conn_state: 'REJ',
      history: 'Sr',
      community_id: '1:x',
      connection_id: 'C',
      vlan: 4095,
      sensor: 'probe',
      severity: 'low',
    };
    const { type: _, ...rest } = network;
    expect(unset('network', { ...network, ...told, id })).toEqual([]);
    expect(one({ ...network, ...told, id })).toEqual({
      ...rest,
      ...told,
      transport: 'tcp',
      direction: 'outbound',
      source: 'native',
    });
  });

  it('are rejected if their duration ends after the year 9999', () => {
    const { answer } = parse([{ ...network, duration_ms: 1e300 }, network]);
    expect(answer).toMatchObject({ accepted: 1, rejected: 1, errors: [{ line: 1, field: 'duration_ms' }] });
    expect(parse([{ ...network, duration_ms: 3.2e14 }]).answer.rejected).toBe(1);
    expect(parse([{ ...network, duration_ms: 1e13 }]).answer.accepted).toBe(1);
  });

  it('are read with every field of a DNS event', () => {
    const told = {
      src_port: 1,
      dst_port: 53,
      kind: 'transaction',
      transaction_id: 65535,
      query: 'a.example',
      qtype: 'A',
      qclass: 'IN',
      rcode: 0,
      rcode_name: 'NOERROR',
      answers: [{ type: 'A', ttl: 1, data: '192.0.2.1' }, { data: '' }],
      authoritative: true,
      truncated: false,
      recursion_desired: true,
      recursion_available: false,
      rejected: false,
      rtt_ms: 0.5,
      connection_id: 'C',
      community_id: '1:x',
      sensor: 'probe',
      severity: 'critical',
    };
    const { type: _, ...rest } = dns;
    expect(unset('dns', { ...dns, ...told, id })).toEqual([]);
    expect(one({ ...dns, ...told, id })).toEqual({ ...rest, ...told, source: 'native' });
  });

  it('may be one event or an array at the typed endpoints, where the type may be omitted', () => {
    const { type: _, ...untyped } = network;
    for (const body of [JSON.stringify(untyped, null, 2), JSON.stringify([untyped]), JSON.stringify([network])]) {
      expect(parse(body, { mediaType: 'json', table: 'network' }).answer).toMatchObject({
        accepted: 1,
        rejected: 0,
      });
    }
    expect(parse([untyped, network], { table: 'network' }).answer.accepted).toBe(2);
    expect(parse([dns], { table: 'network' }).answer.errors).toMatchObject([{ field: 'type' }]);
    expect(parse([{ ...network, type: 'constructor' }], { table: 'network' }).answer.errors).toMatchObject([
      { field: 'type' },
    ]);
  });

  it.each([
    ['src_bites', { src_bites: 1 }],
    ['direction', { direction: 'inbound' }],
    ['received_at', { received_at: '2026-01-01T00:00:00Z' }],
    ['id', { id: 'x' }],
    ['id', { id: 7 }],
    ['timestamp', { timestamp: undefined }],
    ['timestamp', { timestamp: 1 }],
    ['timestamp', { timestamp: '1969-12-31T23:59:59Z' }],
    ['src_ip', { src_ip: '10.0.0.256' }],
    ['dst_ip', { dst_ip: undefined }],
    ['transport', { transport: '' }],
    ['state', { state: 'CLOSED' }],
    ['severity', { severity: 'bad' }],
    ['vlan', { vlan: 4096 }],
    ['src_mac', { src_mac: 'aa' }],
    ['duration_ms', { duration_ms: -1 }],
  ])('are rejected with an error for %s: %j', (field, given) => {
    expect(parse([{ ...network, ...given }, network]).answer).toMatchObject({
      accepted: 1,
      rejected: 1,
      errors: [{ line: 1, code: 'INVALID_REQUEST', field }],
    });
  });

  it.each([
    ['kind', { kind: undefined }],
    ['kind', { kind: 'answer' }],
    ['transaction_id', { transaction_id: 65536 }],
    ['answers', { answers: {} }],
    ['answers', { answers: ['192.0.2.1'] }],
    ['answers.data', { answers: [{ type: 'A' }] }],
    ['answers.ttl', { answers: [{ data: 'x', ttl: '1' }] }],
    ['answers.class', { answers: [{ data: 'x', class: 'IN' }] }],
    ['truncated', { truncated: 0 }],
  ])('of DNS are rejected with an error for %s: %j', (field, given) => {
    expect(parse([{ ...dns, ...given }]).answer).toMatchObject({ accepted: 0, errors: [{ field }] });
  });

  it('may have an id, and are rejected if the source is another format', () => {
    expect(events(parse([{ ...network, id }]))).toHaveLength(1);
    expect(parse([network], { source: 'zeek' }).answer.rejected).toBe(1);
    expect(parse([network], { source: 'suricata' }).answer.rejected).toBe(1);
    expect(parse([network], { source: 'native' }).answer.accepted).toBe(1);
    expect(parse([network], { source: 'zeek_tsv' }).answer.rejected).toBe(1);
  });
});
