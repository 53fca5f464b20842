import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { shownProtocols } from '../../src/contract/app-protocols.ts';
import { connectionStates, directions, dnsKinds, eventSources, severities } from '../../src/contract/vocabulary.ts';
import type { EventFilter, FilterTerm } from '../../src/events/query/filter.ts';
import type { DnsRecord, NetworkRecord, Table } from '../../src/events/records.ts';
import { registeredDomain } from '../../src/net/registered-domain.ts';

/** Events as plain objects and filters as plain functions over them: the reference for the columns. */

const texts = [
  'a',
  'A',
  'zeek-1',
  'ssl',
  'ssl,http,SSL',
  '',
  'NUL\0here',
  'ünï',
  'Ünï',
  '𐍈 astral',
  '\uffff',
  'tcp',
  'x'.repeat(300),
];
const addresses = [
  '10.0.0.1',
  '10.0.0.2',
  '10.1.0.1',
  '192.168.1.1',
  '::ffff:10.0.0.1',
  '::1',
  '::',
  '2001:db8::1',
  '2001:DB8:0::1',
  '2001:db8:ffff::1',
  '255.255.255.255',
  '0.0.0.0',
];
const names = [
  'example.com',
  'WWW.Example.com',
  'www.example.co.uk',
  'example.co.uk',
  'localhost',
  'wwwexample.com',
  'a.b.example.com.',
  'münchen.example.com',
  '',
];
const macs = ['00:11:22:33:44:55', 'AA:bb:CC:dd:ee:ff', 'aa:bb:cc:dd:ee:ff'];
const moments = [0, 1, 1_700_000_000_000, 1_700_000_000_001, 1_700_000_060_000, 253_402_300_799_999];
const numbers = [
  0,
  1,
  2,
  254,
  255,
  256,
  65_534,
  65_535,
  65_536,
  4_294_967_294,
  4_294_967_295,
  2 ** 53 - 1,
  1.8e19,
  0.5,
  1e-7,
];

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const text = fc.oneof(fc.constantFrom(...texts), fc.string({ unit: 'grapheme', maxLength: 12 }));
const address = fc.oneof(fc.constantFrom(...addresses), fc.ipV4(), fc.ipV6());
const time = fc.oneof(fc.constantFrom(...moments), fc.integer({ min: 1_700_000_000_000, max: 1_700_000_100_000 }));
const count = fc.oneof(fc.constantFrom(...numbers), fc.nat(300));
const port = fc.oneof(fc.constantFrom(0, 22, 53, 443, 65_535), fc.nat(65_535));
const transport = fc.constantFrom('tcp', 'udp', 'icmp', 'gre', 'sctp');
const answers = fc
  .array(fc.record({ data: fc.constantFrom('10.0.0.1', '10.0.0.12', 'quote " \\ here', 'ünï'), ttl: fc.nat(100) }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((list) => JSON.stringify(list));

export const networkRecord: fc.Arbitrary<NetworkRecord> = fc.record({
  id: fc.constant(undefined),
  timestamp: time,
  duration_ms: maybe(count),
  src_ip: address,
  src_port: maybe(port),
  src_mac: maybe(fc.constantFrom(...macs)),
  dst_ip: address,
  dst_port: maybe(port),
  dst_mac: maybe(fc.constantFrom(...macs)),
  transport,
  app_protocol: maybe(text),
  src_bytes: maybe(count),
  dst_bytes: maybe(count),
  src_payload_bytes: maybe(count),
  dst_payload_bytes: maybe(count),
  src_packets: maybe(count),
  dst_packets: maybe(count),
  missed_bytes: maybe(count),
  state: maybe(fc.constantFrom(...connectionStates)),
  conn_state: maybe(text),
  history: maybe(text),
  direction: fc.constantFrom(...directions),
  community_id: maybe(fc.constantFrom('1:wCb3OG7yAFWelaUydu0D+125CLM=', 'not one')),
  connection_id: maybe(text),
  vlan: maybe(fc.nat(4095)),
  sensor: maybe(text),
  source: fc.constantFrom(...eventSources),
  severity: fc.constantFrom(...severities),
});

export const dnsRecord: fc.Arbitrary<DnsRecord> = fc.record({
  id: fc.constant(undefined),
  timestamp: time,
  src_ip: address,
  src_port: maybe(port),
  dst_ip: address,
  dst_port: maybe(port),
  transport,
  kind: fc.constantFrom(...dnsKinds),
  transaction_id: maybe(port),
  query: maybe(fc.oneof(fc.constantFrom(...names), fc.domain())),
  qtype: maybe(fc.constantFrom('A', 'AAAA', 'TXT')),
  qclass: maybe(fc.constantFrom('IN', 'CH')),
  rcode: maybe(fc.nat(25)),
  rcode_name: maybe(fc.constantFrom('NOERROR', 'NXDOMAIN')),
  answers: maybe(answers),
  authoritative: maybe(fc.boolean()),
  truncated: maybe(fc.boolean()),
  recursion_desired: maybe(fc.boolean()),
  recursion_available: maybe(fc.boolean()),
  rejected: maybe(fc.boolean()),
  rtt_ms: maybe(count),
  community_id: maybe(fc.constantFrom('1:wCb3OG7yAFWelaUydu0D+125CLM=', 'not one')),
  connection_id: maybe(text),
  sensor: maybe(text),
  source: fc.constantFrom(...eventSources),
  severity: fc.constantFrom(...severities),
});

export const recordOf = (table: Table): fc.Arbitrary<NetworkRecord | DnsRecord> =>
  table === 'network' ? networkRecord : dnsRecord;

/**
 * Returns the contract's attributes of a record, except a computed community id.
 */
export function attributesOf(record: NetworkRecord | DnsRecord, receivedAt: number): Record<string, unknown> {
  const iso = (t: number) => new Date(t).toISOString();
  const { id: _, timestamp, ...stored } = record;
  const { app_protocol = '', ...rest } = stored as typeof stored & { app_protocol?: string };
  const shown: Record<string, unknown> = {
    ...rest,
    ...shownProtocols(app_protocol),
    timestamp: iso(timestamp),
    received_at: iso(receivedAt),
  };
  shown.src_ip = canonical(record.src_ip);
  shown.dst_ip = canonical(record.dst_ip);
  if ('duration_ms' in record && record.duration_ms !== undefined) {
    const end = Math.round(timestamp + record.duration_ms);
    if (end <= 253_402_300_799_999) shown.end_time = iso(end);
  }
  if ('app_protocol' in record && record.app_protocol !== undefined) {
    const stored = record.app_protocol;
    const names = [...new Set(stored.split(',').filter(Boolean).map(protocolOf))];
    shown.app_protocol = names[0];
    shown.app_protocols = names.length === 0 ? undefined : names;
    shown.app_protocol_stored = names.join() === stored ? undefined : stored;
  }
  if ('query' in record && record.query !== undefined) shown.registered_domain = registeredDomain(record.query);
  if ('answers' in record && record.answers !== undefined) shown.answers = JSON.parse(record.answers);
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined));
}

/** Returns the protocol that a sensor's name stands for. Covers only the names in the generated records. */
const protocolOf = (name: string) => name.toLowerCase().replace(/^ssl$/, 'tls');

export function canonical(address: string): string {
  // ipaddr.js treats the IPv4-compatible form `::a.b.c.d` (RFC 4291, 2.5.5.1) as IPv4-mapped.
  const groups = address.replace(/(?<=:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...octets: string[]) => {
    const [a, b, c, d] = octets.map(Number) as [number, number, number, number];
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const parsed = ipaddr.process(groups);
  return parsed.kind() === 'ipv6' ? (parsed as ipaddr.IPv6).toRFC5952String() : parsed.toString();
}

const folded = new Set(['query', 'registered_domain', 'src_mac', 'dst_mac']);
const asciiLower = (value: string) => value.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
const fold = (value: string, wanted: string) =>
  /^[\0-\x7f]*$/.test(wanted) ? asciiLower(value) === asciiLower(wanted) : value.toLowerCase() === wanted.toLowerCase();

/** Returns whether an event, in the contract's format, matches a filter. `q` is not covered. */
export function matches(filter: EventFilter, event: Record<string, unknown>): boolean {
  const at = Date.parse(event.timestamp as string);
  if (filter.from !== undefined && at < filter.from) return false;
  if (filter.to !== undefined && at >= filter.to) return false;
  if (filter.min_severity !== undefined) {
    const rank = (severity: unknown) => severities.indexOf(severity as never);
    if (rank(event.severity) < rank(filter.min_severity)) return false;
  }
  return filter.terms.every(({ field, values, negated, bound }) => {
    if (bound !== undefined) return isWithin(event[field], Number(values[0]), bound);
    return values.some((value) => equals(event, field, value)) !== (negated === true);
  });
}

function isWithin(value: unknown, limit: number, bound: 'min' | 'max'): boolean {
  if (value === undefined) return false;
  const number = typeof value === 'string' ? Date.parse(value) : (value as number);
  return bound === 'min' ? number >= limit : number <= limit;
}

function equals(event: Record<string, unknown>, field: string, wanted: string | number | boolean): boolean {
  if (field === 'ip') return equals(event, 'src_ip', wanted) || equals(event, 'dst_ip', wanted);
  if (field === 'answer') {
    return ((event.answers as { data: string }[] | undefined) ?? []).some(({ data }) => data === wanted);
  }
  if (field === 'app_protocol')
    return ((event.app_protocols as string[] | undefined) ?? []).includes(protocolOf(String(wanted)));
  const value = event[field];
  if (value === undefined) return false;
  if (field.endsWith('_ip')) return inBlock(value as string, wanted as string);
  if (typeof value === 'number' || typeof value === 'boolean')
    return String(value) === String(wanted) || value === Number(wanted);
  if (folded.has(field)) return fold(value as string, wanted as string);
  if (field === 'timestamp' || field === 'end_time' || field === 'received_at') {
    return value === wanted || Date.parse(value as string) === Number(wanted);
  }
  return value === wanted;
}

function inBlock(address: string, wanted: string): boolean {
  const parsed = ipaddr.process(address);
  const [base, length] = wanted.split('/');
  const range = ipaddr.process(base!);
  const mapped = range.kind() === 'ipv4' && base!.includes(':');
  if (parsed.kind() !== range.kind()) return false;
  const full = range.kind() === 'ipv4' ? 32 : 128;
  const prefix = length === undefined ? full : Number(length) - (mapped ? 96 : 0);
  return parsed.kind() === 'ipv4'
    ? (parsed as ipaddr.IPv4).match([range as ipaddr.IPv4, prefix])
    : (parsed as ipaddr.IPv6).match([range as ipaddr.IPv6, prefix]);
}

const cidrs = ['10.0.0.0/8', '10.0.0.0/31', '0.0.0.0/0', '::/0', '2001:db8::/32', '::ffff:10.0.0.0/104', '10.9.9.9/8'];

export const maybeNegated = (term: FilterTerm, negated: boolean): FilterTerm => (negated ? { ...term, negated } : term);

/** Attributes without a filter of the same name. */
const unfiltered = new Set(['answers', 'app_protocols', 'app_protocol_stored']);

/** Returns whether a filter takes the value literally. A value with a star is a pattern. */
const isPlain = (value: unknown) => value !== undefined && !String(value).includes('*');

/** Generates a bound of a number or time of these events, at a value of an event or next to it. */
function boundOf(events: readonly Record<string, unknown>[]): fc.Arbitrary<FilterTerm> {
  const times = new Set(['timestamp', 'end_time', 'received_at']);
  const numbers = events.flatMap((event) =>
    Object.entries(event).flatMap(([field, value]): [string, number][] => {
      if (times.has(field)) return [[field, Date.parse(value as string)]];
      return typeof value === 'number' ? [[field, value]] : [];
    }),
  );
  return fc
    .tuple(fc.constantFrom(...numbers), fc.constantFrom(-1, 0, 0, 0.5), fc.constantFrom('min', 'max'), fc.boolean())
    .map(([[field, value], more, bound, asText]) => {
      const limit = value + more;
      return { field, values: [asText ? String(limit) : limit], bound: bound as 'min' | 'max' };
    });
}

/** Generates a term over these events: a bound, or a comparison as by `equalityOf`. */
export const termOf = (events: readonly Record<string, unknown>[]): fc.Arbitrary<FilterTerm> =>
  fc.oneof({ weight: 3, arbitrary: equalityOf(events) }, boundOf(events));

/** Generates a term over a field of these events, with existing and other values, negated or not. */
function equalityOf(events: readonly Record<string, unknown>[]): fc.Arbitrary<FilterTerm> {
  const fields = new Set(
    events.flatMap((event) => Object.keys(event).filter((name) => !unfiltered.has(name) && isPlain(event[name]))),
  );
  return fc.constantFrom(...fields, 'ip').chain((field) => {
    const given = [...new Set(events.map((event) => event[field === 'ip' ? 'dst_ip' : field]))].filter(isPlain) as (
      | string
      | number
      | boolean
    )[];
    const values = field.endsWith('ip') ? fc.constantFrom(...given, ...cidrs, '10.0.0.1') : fc.constantFrom(...given);
    return fc
      .record({ value: values, upper: fc.boolean(), asText: fc.boolean() })
      .map(({ value, upper, asText }) => {
        if (upper && folded.has(field) && /^[\0-\x7f]*$/.test(String(value))) return String(value).toUpperCase();
        return asText ? String(value) : value;
      })
      .chain((value) =>
        fc
          .tuple(fc.array(values, { maxLength: 2 }), fc.boolean())
          .map(([more, negated]) => maybeNegated({ field, values: [value, ...more] }, negated)),
      );
  });
}
