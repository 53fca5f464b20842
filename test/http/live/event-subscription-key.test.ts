import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { channels } from '../../../src/contract/channels.ts';
import { parseStream } from '../../../src/contract/query.ts';
import { noAssets } from '../../../src/events/asset-lookup.ts';
import { CachedAssets } from '../../../src/events/cached-assets.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { DnsRecord, NetworkRecord } from '../../../src/events/records.ts';
import { eventChannel, LiveBlock } from '../../../src/http/live/event-channel.ts';
import { SubscriptionIndex } from '../../../src/http/live/subscription-index.ts';
import { assetIds, Bindings, bindingsOf } from '../../events/bindings.ts';

const few = <T>(...values: T[]) => fc.constantFrom(...values);
const maybe = <T>(...values: T[]) => few<T | undefined>(undefined, ...values);

const addresses = ['10.0.0.1', '10.0.0.2', '192.168.1.9', '2001:db8::1', '2001:db8::2', '::ffff:10.0.0.1'] as const;
const names = ['a.example', 'A.Example', 'b.example', '', 'ä.example', 'Ä.example', 'x\u{1F600}y', 'İ'] as const;

const networkRecord: fc.Arbitrary<NetworkRecord> = fc.record({
  id: fc.constant(undefined),
  timestamp: few(1_700_000_000_000, 1_700_000_000_500),
  duration_ms: maybe(1, 2.5),
  src_ip: few(...addresses),
  src_port: maybe(0, 53, 65535),
  src_mac: maybe('aa:bb:cc:00:00:01', 'AA:BB:CC:00:00:02'),
  dst_ip: few(...addresses),
  dst_port: maybe(0, 53, 443),
  dst_mac: maybe('aa:bb:cc:00:00:01'),
  transport: few('tcp', 'udp'),
  app_protocol: maybe(...names),
  src_bytes: maybe(1, 2 ** 40),
  dst_bytes: maybe(1),
  src_payload_bytes: maybe(1),
  dst_payload_bytes: maybe(1),
  src_packets: maybe(1),
  dst_packets: maybe(1),
  missed_bytes: maybe(1),
  state: maybe('open', 'closed', 'refused'),
  conn_state: maybe('SF', 'S0'),
  history: maybe('ShA'),
  direction: few('inbound', 'internal'),
  community_id: fc.constant(undefined),
  connection_id: maybe(...names),
  vlan: maybe(0, 7),
  sensor: maybe(...names),
  source: few('zeek', 'suricata'),
  severity: few('informational', 'high'),
});

const dnsRecord: fc.Arbitrary<DnsRecord> = fc.record({
  id: fc.constant(undefined),
  timestamp: few(1_700_000_000_000),
  src_ip: few(...addresses),
  src_port: maybe(53),
  dst_ip: few(...addresses),
  dst_port: maybe(53),
  transport: few('udp'),
  kind: few('query', 'response'),
  transaction_id: maybe(0, 9),
  query: maybe(...names),
  qtype: maybe('A', 'AAAA'),
  qclass: maybe('IN'),
  rcode: maybe(0, 3),
  rcode_name: maybe('NOERROR', 'NXDOMAIN'),
  answers: fc.constant(undefined),
  authoritative: maybe(true, false),
  truncated: maybe(true),
  recursion_desired: maybe(true),
  recursion_available: maybe(true),
  rejected: maybe(false),
  rtt_ms: maybe(1.5),
  community_id: fc.constant(undefined),
  connection_id: maybe(...names),
  sensor: maybe(...names),
  source: few('zeek'),
  severity: few('informational'),
});

const address = few(...addresses, '10.0.0.0/24', '2001:0db8:0::0001', '10.0.0.1/32', '::/0');
const text = few(...names.filter((name) => name !== ''), 'a.EXAMPLE', 'i̇', '\ud800');
const times = [0, 1_700_000_000_000, 1_700_000_000_500];
const asset = few(...assetIds, assetIds[0]!.toUpperCase());
const terms: Record<string, fc.Arbitrary<string>> = {
  asset_id: asset,
  src_asset_id: asset,
  dst_asset_id: asset,
  src_ip: address,
  dst_ip: address,
  ip: address,
  src_port: few('0', '53', '65535'),
  dst_port: few('0', '53', '443'),
  connection_id: text,
  sensor: text,
};
const filterOf = (more: Record<string, fc.Arbitrary<string>>) =>
  fc
    .array(
      fc.oneof(
        ...Object.entries({ ...terms, ...more }).map(([name, value]) =>
          fc.tuple(fc.constantFrom(name, `not_${name}`), fc.array(value, { minLength: 1, maxLength: 3 })),
        ),
        fc.tuple(few('min_dst_port', 'max_src_port'), fc.tuple(few('0', '53', '443'))),
      ),
      { maxLength: 3 },
    )
    .map((pairs) => new Map(pairs));

describe.each([
  {
    table: 'network',
    record: networkRecord,
    filter: filterOf({
      src_mac: few('aa:BB:cc:00:00:01', 'aa:bb:cc:00:00:02'),
      app_protocol: text,
      vlan: few('0', '7'),
      state: few('open', 'closed'),
      conn_state: few('SF', 'S0'),
      direction: few('inbound'),
    }),
  },
  {
    table: 'dns',
    record: dnsRecord,
    filter: filterOf({
      query: text,
      qtype: few('A', 'AAAA'),
      rcode_name: few('NOERROR'),
      rcode: few('0', '3'),
      transaction_id: few('0', '9'),
      rejected: few('true', 'false'),
      registered_domain: text,
    }),
  },
] as const)('subscriptions to $table events', ({ table, record, filter }) => {
  it('are found by the values of a block whenever their filter matches', () => {
    const bindings = new Bindings();
    const assets = new CachedAssets(bindings);
    const channel = eventChannel(
      table,
      () => 0,
      () => Promise.reject(new Error('no replay here')),
      assets,
    );
    fc.assert(
      fc.property(
        fc.array<NetworkRecord | DnsRecord>(record, { minLength: 1, maxLength: 12 }),
        fc.array(filter, { minLength: 1, maxLength: 20 }),
        bindingsOf(addresses, times),
        (records, filters, bound) => {
          bindings.replace(bound);
          const builder = new BlockBuilder(table, 1_700_000_001_000);
          for (const one of records) builder.add(one as NetworkRecord & DnsRecord);
          const buffer = builder.finish();
          const block = new LiveBlock({ table, first_seq: 1, rows: records.length, buffer }, assets);
          const interests = new SubscriptionIndex<ReturnType<typeof channel.compile> & { key: undefined }>();
          const matchers = filters.map((raw) =>
            channel.compile(parseStream(channels[`events.${table}`].filters, raw).filter),
          ) as (ReturnType<typeof channel.compile> & { key: undefined })[];
          for (const matcher of matchers) interests.add(matcher);
          const found = interests.candidates(block);
          for (const matcher of matchers) if (!found.has(matcher)) expect(block.match(matcher)).toEqual([]);
          for (const matcher of matchers) interests.delete(matcher);
          expect([...interests]).toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  });
});

it('filters without an indexed value, such as CIDR blocks and negated terms, are always evaluated', () => {
  const channel = eventChannel(
    'network',
    () => 0,
    () => Promise.reject(new Error('no replay here')),
    noAssets,
  );
  const keyOf = (query: Record<string, string[]>) =>
    channel.subscriptionKey(
      channel.compile(parseStream(channels['events.network'].filters, new Map(Object.entries(query))).filter),
    );
  expect(keyOf({})).toBeUndefined();
  expect(keyOf({ not_src_ip: ['10.0.0.1'] })).toBeUndefined();
  expect(keyOf({ not_src_ip: ['10.0.0.1'], src_ip: ['0.0.0.7'] })).toEqual({ field: 'src_ip', values: [7] });
  expect(keyOf({ src_ip: ['10.0.0.0/8', '10.0.0.1'] })).toBeUndefined();
  expect(keyOf({ src_ip: ['10.0.0.0/8'], dst_port: ['443'] })).toEqual({ field: 'dst_port', values: [443] });
  expect(keyOf({ dst_port: ['443'], ip: ['0.0.0.7'] })).toEqual({ field: 'ip', values: [7] });
});
