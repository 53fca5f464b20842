import { expect, test } from 'vitest';
import { openBlock } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import type { DnsRecord } from '../../src/events/records.ts';
import { namesInDns } from '../../src/inventory/model/dns-names.ts';
import { compileHome } from '../../src/net/home-networks.ts';

const start = Date.UTC(2026, 10, 20);
const isHome = compileHome(['10.0.0.0/8', 'fd00::/8']);

interface Answer {
  readonly type?: string;
  readonly data: string;
}

function dns(query: string | undefined, answers: readonly Answer[], changes: Partial<DnsRecord> = {}): DnsRecord {
  return {
    id: undefined,
    timestamp: start,
    src_ip: '10.0.0.9',
    src_port: 4711,
    dst_ip: '10.0.0.53',
    dst_port: 53,
    transport: 'udp',
    kind: 'transaction',
    transaction_id: 1,
    query,
    qtype: 'A',
    qclass: 'IN',
    rcode: 0,
    rcode_name: 'NOERROR',
    answers: answers.length === 0 ? undefined : JSON.stringify(answers),
    authoritative: undefined,
    truncated: undefined,
    recursion_desired: undefined,
    recursion_available: undefined,
    rejected: undefined,
    rtt_ms: undefined,
    community_id: undefined,
    connection_id: undefined,
    sensor: undefined,
    source: 'zeek',
    severity: 'informational',
    ...changes,
  };
}

function names(...records: DnsRecord[]) {
  const builder = new BlockBuilder('dns', start);
  for (const record of records) builder.add(record);
  return namesInDns(openBlock(builder.finish(), 1), isHome);
}

const name = (ip: string, text: string, from = 'dns', at = start) => ({
  kind: 'name',
  ip,
  name: text,
  from,
  at,
  ...(from === 'dns' ? { clients: ['10.0.0.9'] } : {}),
});

test('DNS answers give names to home addresses, through aliases and for IPv4 and IPv6', () => {
  const answers = [
    { type: 'CNAME', data: 'box.example.com' },
    { type: 'A', data: '10.0.0.7' },
    { type: 'A', data: '192.0.2.7' },
    { type: 'AAAA', data: 'FD00:0:0::7' },
    { type: 'TXT', data: '10.0.0.8' },
    { data: '10.0.0.9' },
  ];
  expect(names(dns('Mail.Example.COM.', answers))).toEqual([
    name('10.0.0.7', 'mail.example.com'),
    name('fd00::7', 'mail.example.com'),
    name('10.0.0.9', 'mail.example.com'),
  ]);
});

test('each name is reported once per address, at the latest time', () => {
  const answers = [{ type: 'A', data: '10.0.0.7' }];
  const later = dns('a.lan', answers, { timestamp: start + 5 });
  expect(names(dns('a.lan', answers), dns('b.lan', answers), later)).toEqual([
    name('10.0.0.7', 'a.lan', 'dns', start + 5),
    name('10.0.0.7', 'b.lan'),
  ]);
});

test.each([
  ['printer.local', 53, 'mdns'],
  ['printer', 5353, 'mdns'],
  ['printer', 5355, 'mdns'],
  ['PRINTER', 137, 'mdns'],
  ['printer.lan', 53, 'dns'],
])('an answer for %s over port %i gives a name with the source %s', (query, dst_port, from) => {
  expect(names(dns(query, [{ type: 'A', data: '10.0.0.7' }], { dst_port, src_ip: '10.0.0.7' }))).toMatchObject([
    { from },
  ]);
});

test.each([undefined, '*', 'a b', '-a', `${'a'.repeat(254)}`, 'ä.example'])('%s is not a valid host name', (query) => {
  expect(names(dns(query, [{ type: 'A', data: '10.0.0.7' }]))).toEqual([]);
});

test('look-ups without answers, or without home addresses in the answers, do not name hosts', () => {
  expect(names(dns('a.lan', []), dns('b.lan', [{ type: 'A', data: '198.51.100.1' }]))).toEqual([]);
});

test.each([
  ['a home resolver', { dst_ip: '10.0.0.53' }, true],
  ['an external resolver', { dst_ip: '198.51.100.53' }, false],
  ['mDNS', { dst_ip: '224.0.0.251', dst_port: 5353 }, true],
  ['mDNS over IPv6', { dst_ip: 'ff02::fb', dst_port: 5353 }, true],
  ['LLMNR', { dst_ip: '224.0.0.252', dst_port: 5355 }, true],
  ['NetBIOS to the subnet', { dst_ip: '10.0.0.255', dst_port: 137 }, true],
  ['NetBIOS to the broadcast address', { dst_ip: '255.255.255.255', dst_port: 137 }, true],
  ['NetBIOS to an external address', { dst_ip: '198.51.100.53', dst_port: 137 }, false],
])('an answer with %s %o names a host: %s', (_by, changes, counts) => {
  const answers = [{ type: 'A', data: '10.0.0.7' }];
  const found = names(dns('printer', answers, { src_ip: '10.0.0.7', ...changes }));
  expect(found.map((each) => each.kind === 'name' && each.name)).toEqual(counts ? ['printer'] : []);
});

test.each([5353, 5355, 137])('a host cannot name other hosts over port %i', (dst_port) => {
  const reverse = dns('7.0.0.10.in-addr.arpa', [{ type: 'PTR', data: 'bank.local' }], { dst_port });
  const forward = dns('bank', [{ type: 'A', data: '10.0.0.7' }], { dst_port, dst_ip: '10.0.0.255' });
  expect(names(reverse, forward)).toEqual([]);
});

test('a name has a limited number of the clients that queried the name', () => {
  const answers = [{ type: 'A', data: '10.0.0.7' }];
  const asked = [1, 2, 1, 3, 4, 5].map((n) => dns('a.lan', answers, { src_ip: `10.0.1.${n}` }));
  expect(names(...asked)).toMatchObject([{ clients: ['10.0.1.1', '10.0.1.2', '10.0.1.3'] }]);
});

test('a reverse look-up names the queried address, for IPv4 and IPv6', () => {
  const pointer = (query: string, ...answers: Answer[]) => dns(query, answers, { qtype: 'PTR' });
  const nibbles = '7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f';
  expect(
    names(
      pointer('7.0.0.10.in-addr.arpa', { type: 'PTR', data: 'Box.Lan.' }),
      pointer('8.0.0.10.IN-ADDR.ARPA.', { data: 'other.lan' }),
      pointer(`${nibbles}.ip6.arpa`, { type: 'PTR', data: 'six.lan' }),
    ),
  ).toEqual([name('10.0.0.7', 'box.lan'), name('10.0.0.8', 'other.lan'), name('fd00::7', 'six.lan')]);
  expect(
    names(
      pointer('7.100.51.198.in-addr.arpa', { type: 'PTR', data: 'abroad.example' }),
      pointer('300.0.0.10.in-addr.arpa', { type: 'PTR', data: 'none.lan' }),
      pointer('0.0.10.in-addr.arpa', { type: 'PTR', data: 'part.lan' }),
      pointer('7.0.0.10.in-addr.arpa', { type: 'CNAME', data: '7.0-15.0.0.10.in-addr.arpa' }, { data: '10.0.0.1' }),
      dns('7.0.0.10.in-addr.arpa', [{ type: 'PTR', data: 'forged.lan' }], { dst_ip: '198.51.100.53' }),
    ),
  ).toEqual([]);
});
