import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Addresses } from '../../src/ingest/addresses.ts';
import { Batch } from '../../src/ingest/batch.ts';
import type { JsonObject } from '../../src/ingest/fields.ts';
import { RecordReader, type SourceFormat } from '../../src/ingest/record-reader.ts';
import { eachLine } from '../../src/ingest/split.ts';
import { homeNetworks } from '../../src/net/home-networks.ts';
import { detectors, hasShared, home, receivedAt, shared } from './ingesting.ts';

/** Counts the records that rules evaluate, and the records whose values are read from the bytes of the line. */
interface Seen {
  fromLines: number;
  all: number;
}

/**
 * Reads the lines of a body from its bytes, or each line as a separate text. A text is parsed without the shapes of
 * earlier lines. Returns all results, and the records that rules evaluate.
 */
function results(
  body: string,
  from: 'bytes' | 'texts',
  source?: SourceFormat,
  sensor?: string,
  count?: Seen,
): unknown[] {
  const seen: unknown[] = [];
  const ask = (kind: string, record: JsonObject, timeOf: () => number) => {
    const [name = ''] = Object.keys(record);
    const isFromLine = Object.getOwnPropertyDescriptor(record, name)?.get !== undefined;
    expect(from === 'texts' && isFromLine).toBe(false);
    if (count !== undefined) {
      count.all++;
      count.fromLines += isFromLine ? 1 : 0;
    }
    seen.push([kind, timeOf(), Object.keys(record), JSON.stringify(record)]);
  };
  const bytes = Buffer.from(body);
  const batch = new Batch();
  batch.beginBody(receivedAt, 'sensor-1');
  const reader = new RecordReader(
    bytes,
    { source },
    {
      addresses: new Addresses(homeNetworks(home)),
      sensor,
      detectors: { ...detectors, rules: { ask } },
      batch,
      receivedAt,
    },
  );
  eachLine(bytes, (start, end, line) => {
    if (from === 'bytes') reader.read(start, end, line);
    else reader.readValue(bytes.toString('utf8', start, end), line);
  });
  const { answer, rows, unstored } = batch.endBody();
  const { blocks, findings, sightings, namedHosts } = batch.finish();
  const hex = blocks.map((block) => Buffer.from(block).toString('latin1'));
  return [answer, rows, unstored.map(({ sample: _, ...rest }) => rest), hex, findings, sightings, namedHosts, seen];
}

function expectSame(body: string, source?: SourceFormat, sensor?: string, count?: Seen): void {
  expect(results(body, 'bytes', source, sensor, count)).toStrictEqual(results(body, 'texts', source, sensor));
}

/** JSON texts of valid values of a field, or the fields of an object. */
type Values = readonly string[] | { readonly [name: string]: Values };

const quoted = (...texts: string[]) => texts.map((text) => JSON.stringify(text));
const addresses = quoted('10.0.0.1', '192.168.1.102', '203.0.113.7', '2001:db8::1', 'FE80::1', '::ffff:10.0.0.1');
const ports = ['0', '53', '443', '65535'];
const counts = ['0', '7', '1500', '1000000000000'];
const stamps = quoted(
  '2026-01-01T00:00:00.123456+0000',
  '2026-01-01T00:00:59.999999Z',
  '2026-01-01T00:01:00+02:00',
  '2026-01-01T00:00:00',
  '2024-02-29T23:59:60.5-0130',
);
const flags = ['true', 'false'];

const zeek: Values = {
  ts: ['1763683201.123', '1763683200', '1763683200123.5', '0', ...stamps],
  orig_h: quoted('10.9.9.9'),
  uid: quoted('CHhAvVGS1DHFjwGM9', 'C1', 'x'.repeat(60)),
  proto: quoted('tcp', 'udp', 'icmp', 'unknown_transport'),
  community_id: quoted('1:LQU9qZlK+B5F3KDmev6m5PMibrg='),
};
const conn: Values = {
  ...zeek,
  service: quoted('dns', 'ssl,http', '-ssl,http', 'gssapi,smb,-gssapi'),
  duration: ['0.5', '0', '64380.00001', '1e-6', '1e3'],
  orig_bytes: counts,
  resp_bytes: counts,
  conn_state: quoted('SF', 'S0', 'REJ', 'RSTR', 'OTH', 'strange'),
  local_orig: flags,
  missed_bytes: counts,
  history: quoted('ShADadFf', 'Sr', 'D', '^d'),
  orig_pkts: counts,
  orig_ip_bytes: counts,
  resp_ip_bytes: counts,
  tunnel_parents: ['[]', '["C9"]'],
  orig_l2_addr: quoted('00:11:22:33:44:55', 'AA-BB-CC-DD-EE-FF'),
  vlan: ['1', '4095'],
  _system_name: quoted('zeek-1', 'zeek-2'),
};
const dns: Values = {
  ...zeek,
  trans_id: ['1', '65535'],
  query: quoted('a.example', 'b.example', 'c.example', 'd.example', 'caf\u00e9.example'),
  qclass: ['1'],
  qclass_name: quoted('C_INTERNET'),
  qtype: ['1', '16', '65000'],
  qtype_name: quoted('A', 'TXT', 'type65'),
  rcode: ['0', '3'],
  rcode_name: quoted('NOERROR', 'NXDOMAIN'),
  AA: flags,
  TC: flags,
  RD: flags,
  RA: flags,
  rejected: flags,
  rtt: ['0.02', '0'],
  answers: ['["192.0.2.1","b.example"]', '["TXT 3 abc"]', '[]', '["",null]', '[1]'],
  TTLs: ['[60,1.5]', '[60.000000]', '[-1]'],
  _node_name: quoted('worker-1'),
};
const idsOf: readonly Values[] = [
  { 'id.orig_h': addresses, 'id.orig_p': ports, 'id.resp_h': addresses, 'id.resp_p': ports },
  { id_orig_h: addresses, id_orig_p: ports, id_resp_h: addresses, id_resp_p: ports },
  { id: { orig_h: addresses, orig_p: ports, resp_h: addresses, resp_p: ports } },
];
const logs = { conn, dns };

const eve: Values = {
  timestamp: stamps,
  flow_id: ['1031464864740687', '18446744073709551615', '0', '1e5', '5.0', '"77"', '123456789012345678901'],
  src_ip: addresses,
  src_port: ports,
  dest_ip: addresses,
  dest_port: ports,
  proto: quoted('TCP', 'UDP', 'IPv6-ICMP'),
  icmp_type: ['8'],
  community_id: quoted('1:LQU9qZlK+B5F3KDmev6m5PMibrg='),
  host: quoted('suricata-1'),
  in_iface: quoted('eth0'),
  app_proto: quoted('dns', 'failed', 'tls'),
  vlan: ['[10]', '[10,20]', '[]'],
  ether: { src_mac: quoted('00:11:22:33:44:55'), dest_macs: ['["00:11:22:33:44:55"]'] },
  flow: {
    pkts_toserver: counts,
    pkts_toclient: counts,
    bytes_toserver: counts,
    bytes_toclient: counts,
    start: stamps,
    end: stamps,
    state: quoted('new', 'established', 'closed', 'bypassed'),
    src_ip: addresses,
    dest_ip: addresses,
  },
  tcp: { tcp_flags: quoted('1b', '02'), tcp_flags_tc: quoted('12', 'zz'), rst: flags, fin: flags },
};
const message: Values = {
  version: ['2', '3'],
  type: quoted('query', 'answer', 'request', 'response'),
  id: ['1', '65535'],
  flags: quoted('8180', '100'),
  rcode: quoted('NOERROR', 'REFUSED'),
  rrname: quoted('a.example'),
  rrtype: quoted('A', 'MX'),
  queries: ['[{"rrname":"q.example","rrtype":"AAAA"}]', '[]'],
  answers: ['[{"rrname":"a.example","rrtype":"A","ttl":3,"rdata":"192.0.2.1"}]', '[]'],
  ttl: ['60'],
  rdata: quoted('192.0.2.9'),
};
const alert: Values = {
  action: quoted('allowed', 'blocked'),
  gid: ['1'],
  signature_id: ['2001000'],
  rev: ['2'],
  signature: quoted('ET SCAN CVE-2021-44228'),
  category: quoted('Scan'),
  severity: ['1', '3'],
  metadata: ['{"confidence":["High"],"cve":["CVE_2020_1"]}'],
};
const types: Readonly<Record<string, Values>> = {
  flow: eve,
  dns: { ...eve, dns: message },
  alert: { ...eve, alert, direction: quoted('to_server', 'to_client') },
  tls: { ...eve, tls: { sni: quoted('a.example') } },
};

/** JSON texts that are wrong in most places, and texts that are not JSON. */
const strange = fc.oneof(
  fc.constantFrom('null', '""', '"x"', 'true', '-1', '-0', '0.5', '1e300', '1E400', '9007199254740993', '"1"'),
  fc.constantFrom('[]', '[null]', '["a"]', '{}', '{"a":1}', '{"start":{}}', '01', '1.', 'nul', '"\\u00zz"', '"a\tb"'),
  fc.constantFrom(
    '"caf\u00e9"',
    '"a\\nb"',
    '"\\ud800"',
    `"${'x'.repeat(4097)}"`,
    '"2026-02-30T00:00:00Z"',
    '"10.0.0.256"',
  ),
  fc.string({ maxLength: 50 }).map((text) => JSON.stringify(text)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);

type Generate = fc.GeneratorValue;
type Shape = readonly (readonly [name: string, values: readonly string[] | Shape])[];
const isLeaf = (values: Values | Shape[number][1]): values is readonly string[] =>
  typeof values[0 as never] === 'string';
const oneIn = (g: Generate, n: number) => g(fc.nat, { max: n - 1 }) === 0;

/** Chooses the fields of lines, mostly in order and without repeated names. */
function shapeOf(g: Generate, values: Values): Shape {
  const missing = g(fc.constantFrom, 0, 0, 1, 4);
  const fields = Object.entries(values).filter(() => g(fc.nat, { max: 19 }) >= missing);
  if (oneIn(g, 20) && fields.length > 0) fields.push(fields[0]!);
  if (oneIn(g, 5)) fields.reverse();
  return fields.map(([name, inner]) => [name, isLeaf(inner) ? inner : shapeOf(g, inner)]);
}

function textOf(g: Generate, shape: Shape): string {
  const members = shape.map(([name, values]) => {
    const value = oneIn(g, 200) ? g(() => strange) : isLeaf(values) ? g(fc.constantFrom, ...values) : textOf(g, values);
    return `${JSON.stringify(name)}:${value}`;
  });
  return `{${members.join()}}`;
}

/** Returns lines that alternate between two shapes. */
function linesOf(g: Generate, values: Values): string[] {
  const shapes = [shapeOf(g, values), shapeOf(g, values)];
  return Array.from({ length: 60 }, (_, n) => textOf(g, shapes[n & 1]!));
}

/** Returns a body in Zeek's own format with the values of the fields. */
function rowsOf(g: Generate, log: keyof typeof logs): string {
  const fields = shapeOf(g, { ...idsOf[g(fc.nat, { max: 1 })], ...logs[log] } as Values);
  const types = fields.map(([, values]) => typeOf(values as readonly string[]));
  const rows = Array.from({ length: 40 }, () =>
    fields.map(([, values]) =>
      oneIn(g, 60) ? g(() => strangeCell) : cellOf(g(fc.constantFrom, ...(values as readonly string[]))),
    ),
  );
  const header = [
    `#path\t${log}`,
    `#fields\t${fields.map(([name]) => name).join('\t')}`,
    `#types\t${types.join('\t')}`,
  ];
  return [...header, ...rows.map((cells) => cells.join('\t'))].join(g(fc.constantFrom, '\n', '\r\n'));
}

/** Returns the type of a column with these values. */
function typeOf([text = '']: readonly string[]): string {
  if (/^(true|false)$/.test(text)) return 'bool';
  if (text.startsWith('[')) return /\d/.test(text) && !text.includes('"') ? 'vector[interval]' : 'vector[string]';
  return text.startsWith('"') ? 'string' : 'double';
}

const strangeCell = fc.constantFrom(
  '-',
  '',
  '(empty)',
  'T',
  '-1',
  '007',
  '1e5',
  '"',
  '\\x2d',
  'caf\u00e9',
  ' ',
  'a\tb',
  '- ',
  '(empty)x',
  '1.',
);

/** Writes a JSON text as Zeek writes it. */
function cellOf(text: string): string {
  const value = JSON.parse(text) as unknown;
  if (value === null) return '-';
  if (Array.isArray(value)) return value.length === 0 ? '(empty)' : value.join();
  return typeof value === 'boolean' ? (value ? 'T' : 'F') : String(value);
}

describe('events from the parser of known line shapes equal events from parsed objects', () => {
  const check = (body: (g: Generate) => string, format: SourceFormat) => {
    const seen = { fromLines: 0, all: 0 };
    fc.assert(
      fc.property(
        fc.gen(),
        fc.constantFrom(undefined, format),
        fc.constantFrom(undefined, 'tap-1'),
        (g, source, sensor) => expectSame(body(g), source, sensor, seen),
      ),
      { numRuns: 60 },
    );
    expect(seen.fromLines / seen.all).toBeGreaterThan(0.2);
  };

  it.each(['conn', 'dns'] as const)('in lines of Zeek: %s', (log) => {
    check((g) => {
      const path = g(fc.constantFrom, {}, { _path: quoted(log, log, 'conn_long', 'ssl') }, { '@stream': quoted(log) });
      return linesOf(g, { ...path, ...g(fc.constantFrom, ...idsOf), ...logs[log] } as Values).join('\n');
    }, 'zeek');
  });

  it.each(['conn', 'dns'] as const)('in rows of Zeek: %s', (log) => {
    check((g) => rowsOf(g, log), 'zeek_tsv');
  });

  it.each(Object.keys(types))('in lines of Suricata: %s', (type) => {
    check((g) => linesOf(g, { event_type: quoted(type), ...types[type] } as Values).join('\n'), 'suricata');
  });

  it.each([
    ['Zeek', { ...idsOf[0], ...conn }],
    ['Suricata', { event_type: quoted('flow'), ...eve }],
  ])('in lines of %s in which one field is an object', (_, values) => {
    for (const changed of Object.keys(values)) {
      const members = Object.entries(values).map(([name, inner]) =>
        name === changed ? `"${name}":{"a":1}` : `"${name}":${isLeaf(inner) ? inner[0] : '{"x":1}'}`,
      );
      expectSame(Array.from({ length: 12 }, () => `{${members.join()}}`).join('\n'));
    }
  });

  it('with any changed bytes', () => {
    const line =
      '{"ts":1763683201.123,"uid":"C1","id.orig_h":"10.0.0.1","id.orig_p":1,"id.resp_h":"10.0.0.2","id.resp_p":53,"proto":"udp","orig_ip_bytes":5}';
    const event =
      '{"timestamp":"2026-01-01T00:00:00.1Z","flow_id":12,"event_type":"flow","src_ip":"10.0.0.1","dest_ip":"10.0.0.2","proto":"TCP","flow":{"start":"2026-01-01T00:00:00Z","state":"new"}}';
    fc.assert(
      fc.property(
        fc.constantFrom(line, event),
        fc.integer({ min: 1, max: 180 }),
        fc.string({ minLength: 1, maxLength: 2 }),
        (of, at, put) =>
          expectSame([of, of.slice(0, at) + put.replace('\n', ' ') + of.slice(at + put.length), of].join('\n')),
      ),
      { numRuns: 500 },
    );
  });

  describe.skipIf(!hasShared)('in data of real sensors', () => {
    const folder = join(shared, 'data');
    const files = hasShared
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /(ndjson|log)(\.gz)?$/.test(name))
      : [];
    it.each(files)('%s', (name) => {
      const bytes = readFileSync(join(folder, name));
      const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
      expectSame(text.split('\n').slice(0, 3000).join('\n'));
    });
  });
});
