import { expect, test } from 'vitest';
import { events, parse } from './ingesting.ts';

const native = {
  type: 'network_event',
  timestamp: '2026-01-01T00:00:00Z',
  src_ip: '10.0.0.1',
  dst_ip: '10.0.0.2',
};
const dns = { ...native, type: 'dns_event', kind: 'query', query: 'a.example' };
const ids = { ts: 1, uid: 'C1', 'id.orig_h': '10.0.0.1', 'id.resp_h': '10.0.0.2' };
const conn = { ...ids, _path: 'conn' };
const eve = { timestamp: '2026-01-01T00:00:00.000000+0000', src_ip: '10.0.0.1', dest_ip: '10.0.0.2' };
const flow = { ...eve, event_type: 'flow', flow: { state: 'new' } };
const alert = { ...eve, event_type: 'alert', alert: { signature_id: 1, signature: 's', severity: 1 } };
const knownService = { ts: 1, _path: 'known_services', host: '10.0.0.1', port_num: 22 };
const notice = { ...ids, _path: 'notice', note: 'Scan::Port_Scan' };

const senders = [
  ['native network event', (proto: string) => ({ ...native, transport: proto }), 'transport'],
  ['native DNS event', (proto: string) => ({ ...dns, transport: proto }), 'transport'],
  ['Zeek conn', (proto: string) => ({ ...conn, proto }), 'proto'],
  ['Zeek dns', (proto: string) => ({ ...ids, _path: 'dns', query: 'a.example', proto }), 'proto'],
  ['Zeek notice', (proto: string) => ({ ...notice, proto }), 'proto'],
  ['Zeek known_services', (port_proto: string) => ({ ...knownService, port_proto }), 'port_proto'],
  ['Suricata flow', (proto: string) => ({ ...flow, proto }), 'proto'],
  ['Suricata alert', (proto: string) => ({ ...alert, proto }), 'proto'],
] as const;

test.each(senders)(
  '%s: a transport that cannot be a protocol name is rejected, and the error names the field',
  (_, record, field) => {
    for (const proto of ['😀', '\u{10ffff}', 'tcp udp', 'tcp\n', 'ţcp', 't'.repeat(17), 'a\0b']) {
      const { answer, blocks, sightings } = parse([record(proto)]);
      expect([proto, answer.rejected, answer.errors[0]?.field]).toEqual([proto, 1, field]);
      expect([blocks.length, sightings.length]).toEqual([0, 0]);
    }
    expect(parse([record('TCP')]).answer).toMatchObject({ accepted: 1, rejected: 0 });
  },
);

test.each([
  ['IPv6-ICMP', 'icmp'],
  ['RSVP-E2E-IGNORE', 'rsvp-e2e-ignore'],
  ['TP++', 'tp++'],
  ['A/N', 'a/n'],
  ['AX.25', 'ax.25'],
  ['143', '143'],
])('Suricata’s protocol %s is stored as %s', (proto, transport) => {
  expect(events(parse([{ ...flow, proto }]))).toMatchObject([{ transport }]);
});

test('a transport that Zeek does not know is stored as unknown', () => {
  expect(events(parse([{ ...conn, proto: 'unknown_transport' }]))).toMatchObject([{ transport: 'unknown' }]);
});
