import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openBlock } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../../src/events/records.ts';
import { ConnectionMemory } from '../../src/inventory/model/connection-memory.ts';
import { Observations } from '../../src/inventory/model/observations.ts';
import type { FlowFact } from '../../src/inventory/model/seen.ts';
import { parse } from '../ingest/ingesting.ts';
import { networkRecord } from '../store/records.ts';

const start = Date.UTC(2026, 10, 20);

function block(records: readonly NetworkRecord[]) {
  const builder = new BlockBuilder('network', start);
  for (const record of records) builder.add(record);
  return openBlock(builder.finish(), 1);
}

/** Returns the observations from all blocks in one pass, with the given boundaries. */
function observed(blocks: readonly (readonly NetworkRecord[])[]) {
  const observations = new Observations();
  const memory = new ConnectionMemory(2 ** 16);
  const facts: (Pick<FlowFact, 'connections' | 'bytes' | 'answered' | 'srcHome' | 'dstHome'> & {
    src: string;
  })[] = [];
  const sink = {
    flow: ({ srcs, src, connections, bytes, answered, srcHome, dstHome }: FlowFact) =>
      void facts.push({ src: srcs.text(src), connections, bytes, answered, srcHome, dstHome }),
  };
  for (const records of blocks) observations.add(block(records), memory, [sink]);
  return {
    facts,
    hosts: [...observations.hosts()],
    services: [...observations.services()],
    gateways: [...observations.gateways()],
  };
}

const ssh = (changes: Partial<NetworkRecord> = {}): NetworkRecord =>
  networkRecord({ direction: 'inbound', conn_state: 'SF', dst_ip: '10.0.0.1', ...changes });

const macs = { a: '00:11:22:33:44:01', b: '00:11:22:33:44:02', c: '00:11:22:33:44:03' };

describe('observations from one event', () => {
  test('a home responder that completed a handshake is a host with a service', () => {
    const { hosts, services } = observed([[ssh({ duration_ms: 1500.5, app_protocol: 'ssh', dst_mac: macs.a })]]);
    const times = { first: start, last: start + 1500 };
    expect(hosts).toEqual([{ ip: '10.0.0.1', mac: macs.a, ...times, began: start }]);
    expect(services).toEqual([
      {
        ip: '10.0.0.1',
        port: 22,
        transport: 'tcp',
        name: 'ssh',
        connections: 1,
        clients: expect.objectContaining({ length: 1 }),
        ...times,
      },
    ]);
  });

  test.each<[string, Partial<NetworkRecord>, string[], number]>([
    ['an unanswered connection gives no observation', { conn_state: 'S0' }, [], 0],
    ['an external responder gives no observation', { direction: 'external' }, [], 0],
    ['a home originator of an established connection is a host', { direction: 'outbound' }, ['192.0.2.1'], 0],
    [
      'source and destination of an internal connection are hosts',
      { direction: 'internal' },
      ['192.0.2.1', '10.0.0.1'],
      1,
    ],
    [
      'the source of a datagram gives no observation, because it can be forged',
      { direction: 'outbound', transport: 'udp', conn_state: 'SF', dst_packets: 1, src_packets: 1 },
      [],
      0,
    ],
    [
      'the target of an answered datagram is a host with a service',
      { transport: 'udp', dst_packets: 1 },
      ['10.0.0.1'],
      1,
    ],
    ['the target of an answered echo is a host', { transport: 'icmp', dst_port: 8, dst_packets: 1 }, ['10.0.0.1'], 0],
    ['port 0 gives no service', { dst_port: 0 }, ['10.0.0.1'], 0],
    ['a missing port gives no service', { dst_port: undefined }, ['10.0.0.1'], 0],
    ['multicast gives no observation', { transport: 'udp', dst_packets: 1, dst_ip: '239.1.2.3' }, [], 0],
    ['broadcast gives no observation', { transport: 'udp', dst_packets: 1, dst_ip: '255.255.255.255' }, [], 0],
    ['IPv6 multicast gives no observation', { transport: 'udp', dst_packets: 1, dst_ip: 'ff02::fb' }, [], 0],
    ['an unspecified address gives no observation', { dst_ip: '::' }, [], 0],
    ['a loopback address in a home network is a host', { dst_ip: '127.0.0.1' }, ['127.0.0.1'], 1],
  ])('%s', (_what, changes, ips, services) => {
    const got = observed([[ssh(changes)]]);
    expect(got.hosts.map(({ ip }) => ip).sort()).toEqual([...ips].sort());
    expect(got.services.length).toBe(services);
  });

  test('a MAC address seen with three outside hosts belongs to a gateway, unless the hosts have link-local addresses', () => {
    const inbound = { src_mac: macs.a, dst_mac: macs.b };
    const three = (changes: Partial<NetworkRecord>, ips = ['198.51.100.1', '198.51.100.2', '203.0.113.3']) =>
      ips.map((ip) => ssh({ ...inbound, ...changes, [changes.direction === 'outbound' ? 'dst_ip' : 'src_ip']: ip }));
    const gatewaysIn = (...blocks: NetworkRecord[][]) => observed(blocks).gateways;
    expect(gatewaysIn(three({}))).toEqual([macs.a]);
    expect(gatewaysIn(...three({}).map((record) => [record]))).toEqual([macs.a]);
    expect(gatewaysIn(three({}).slice(1), [ssh({ ...inbound, src_ip: '2001:db8::1' })])).toEqual([macs.a]);
    expect(gatewaysIn(three({ direction: 'outbound' }))).toEqual([macs.b]);
    expect(gatewaysIn(three({}).slice(1))).toEqual([]);
    expect(gatewaysIn(three({}).slice(1), three({}).slice(1))).toEqual([]);
    expect(gatewaysIn(three({ direction: 'internal' }))).toEqual([]);
    expect(gatewaysIn(three({ conn_state: 'S0' }))).toEqual([]);
    expect(gatewaysIn(three({}, ['169.254.3.4', 'fe80::1', '0.0.0.0', 'fe80::2', '169.254.3.5']))).toEqual([]);
  });

  test('a repeated report of a connection counts only its additional bytes', () => {
    const report = (src_bytes: number, changes: Partial<NetworkRecord> = {}) =>
      ssh({ connection_id: 'CXWfTK3LRdiuQxBbM6', src_bytes, dst_bytes: 100, ...changes });
    const reports = [report(50), report(400), report(400), report(300), report(401), report(7, { src_port: 1 })];
    for (const blocks of [[reports], reports.map((one) => [one])]) {
      const { facts, services } = observed(blocks);
      expect(facts.map(({ connections }) => connections)).toEqual([1, 0, 0, 0, 0, 1]);
      expect(facts.map(({ bytes }) => bytes)).toEqual([150, 350, 0, 0, 1, 107]);
      expect(services).toMatchObject([{ connections: 2, clients: { length: 1 } }]);
    }
  });

  test.each<[string, Partial<NetworkRecord>, Partial<NetworkRecord>]>([
    ['TCP', { conn_state: 'S0' }, { conn_state: 'SF' }],
    ['an alert’s event before that of its flow', { conn_state: undefined }, { state: 'closed', dst_bytes: 60 }],
    ['a datagram', { transport: 'udp', dst_packets: 0 }, { transport: 'udp', dst_packets: 2 }],
  ])('a connection first reported as unanswered is counted when it is answered: %s', (_what, attempt, answer) => {
    const common = { connection_id: 'C1', conn_state: undefined, dst_bytes: undefined };
    const [unanswered, answered] = [
      ssh({ ...common, src_bytes: 50, ...attempt }),
      ssh({ ...common, src_bytes: 300, ...answer }),
    ];
    const all = [unanswered, unanswered, answered, unanswered, answered];
    for (const blocks of [[all], all.map((one) => [one])]) {
      const { facts, services } = observed(blocks);
      expect(services).toMatchObject([{ connections: 1 }]);
      expect(facts.map(({ connections }) => connections)).toEqual([1, 0, 1, 0, 0]);
      expect(facts.map(({ answered }) => answered)).toEqual([false, false, true, true, true]);
      expect(facts.map(({ bytes }) => bytes).slice(0, 2)).toEqual([50, 0]);
    }
    const outbound = all.map((one) => ({ ...one, direction: 'outbound' as const }));
    expect(observed([outbound]).facts.map(({ connections }) => connections)).toEqual([1, 0, 0, 0, 0]);
  });

  test('ids that differ in one character, of any length, are different connections', () => {
    const ids = ['a', 'b', 'ab', 'abc', 'abcd', 'abcde', 'abcdf', 'bbcde', 'CXWfTK3LRdiuQxBbM6', 'CXWfTK3LRdiuQxBbM7'];
    const records = [...ids, ...ids].map((connection_id) => ssh({ connection_id }));
    expect(observed([records]).facts.filter(({ connections }) => connections === 0)).toHaveLength(ids.length);
  });
});

const few = <T>(...values: T[]) => fc.constantFrom(...values);
const records = fc.array(
  fc
    .record({
      src_ip: few('192.0.2.1', '192.0.2.2', '10.0.0.9', '2001:db8::1'),
      dst_ip: few('10.0.0.1', '10.0.0.2', 'fd00::5', '224.0.0.1'),
      src_mac: few(undefined, macs.a),
      dst_mac: few(undefined, macs.b, macs.c),
      dst_port: few<number | undefined>(22, 53, 65_535, 0, undefined),
      transport: few('tcp', 'udp', 'icmp', 'sctp'),
      conn_state: few(undefined, 'SF', 'S0', 'RSTO', 'new'),
      app_protocol: few(undefined, 'ssh', 'dns'),
      direction: few<NetworkRecord['direction']>('inbound', 'outbound', 'internal', 'external'),
      connection_id: few(undefined, 'C1', 'C2', 'C3', '123456789'),
      dst_packets: few<number | undefined>(0, 3, undefined),
      src_bytes: few<number | undefined>(40, 900, 70_000.5, undefined),
      src_payload_bytes: few<number | undefined>(undefined, 11),
      timestamp: fc.integer({ min: 0, max: 100_000 }).map((ms) => start + ms),
      duration_ms: few<number | undefined>(undefined, 0.25, 1700),
    })
    .map((changes) => networkRecord(changes)),
  { minLength: 1, maxLength: 200 },
);

/** Returns the observations of a reference implementation, record by record. */
function plainly(all: readonly NetworkRecord[]) {
  const hosts = new Map<string, { first: number; last: number }>();
  const services = new Map<string, { connections: number; clients: Set<string>; name: string | undefined }>();
  const known = new Map<string, { bytes: number; answered: boolean }>();
  const facts: { connections: number; bytes: number; answered: boolean }[] = [];
  const add = (key: string, first: number, last: number) => {
    const host = hosts.get(key) ?? { first, last };
    hosts.set(key, { first: Math.min(first, host.first), last: Math.max(last, host.last) });
  };
  for (const r of all) {
    const tcp = r.transport === 'tcp';
    const answered = tcp ? r.conn_state === 'SF' || r.conn_state === 'RSTO' : (r.dst_packets ?? 0) > 0;
    const bytes = r.src_bytes ?? r.src_payload_bytes ?? 0;
    const id = r.connection_id && `${r.connection_id} ${r.src_ip} ${r.dst_ip} ${r.src_port ?? 0} ${r.dst_port ?? 0}`;
    const before = id === undefined ? undefined : known.get(id);
    const wasAnswered = before?.answered ?? false;
    if (id !== undefined)
      known.set(id, { bytes: Math.max(bytes, before?.bytes ?? 0), answered: answered || wasAnswered });
    const isHome = r.direction === 'inbound' || r.direction === 'internal';
    const moves = answered && !wasAnswered && isHome && r.dst_ip !== '224.0.0.1';
    facts.push({
      connections: before === undefined || moves ? 1 : 0,
      bytes: Math.max(0, bytes - (before?.bytes ?? 0)),
      answered: answered || wasAnswered,
    });
    if (!answered) continue;
    const last = r.timestamp + Math.floor(r.duration_ms ?? 0);
    const [srcHome, dstHome] = [
      r.direction === 'outbound' || r.direction === 'internal',
      r.direction === 'inbound' || r.direction === 'internal',
    ];
    if (tcp && srcHome) add(`${r.src_ip} ${r.src_mac}`, r.timestamp, last);
    if (!dstHome || r.dst_ip === '224.0.0.1') continue;
    add(`${r.dst_ip} ${r.dst_mac}`, r.timestamp, last);
    if (r.transport === 'icmp' || !r.dst_port) continue;
    const key = `${r.dst_ip} ${r.dst_port} ${r.transport}`;
    const service = services.get(key) ?? { connections: 0, clients: new Set(), name: undefined };
    service.connections += wasAnswered ? 0 : 1;
    service.clients.add(r.src_ip);
    service.name = r.app_protocol ?? service.name;
    services.set(key, service);
  }
  return { hosts, services, facts };
}

test('events in blocks with any boundaries give the same observations as single events', () => {
  fc.assert(
    fc.property(records, fc.integer({ min: 1, max: 60 }), (all, size) => {
      const blocks = Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
        all.slice(i * size, (i + 1) * size),
      );
      const got = observed(blocks);
      const want = plainly(all);
      expect(got.facts.map(({ connections, bytes, answered }) => ({ connections, bytes, answered }))).toEqual(
        want.facts,
      );
      // An address that changes hands has several entries for one MAC address.
      const hosts = Map.groupBy(got.hosts, ({ ip, mac }) => `${ip} ${mac}`);
      const times = (spans: typeof got.hosts) => ({
        first: Math.min(...spans.map(({ first }) => first)),
        last: Math.max(...spans.map(({ last }) => last)),
      });
      expect(new Map([...hosts].map(([key, spans]) => [key, times(spans)]))).toEqual(want.hosts);
      expect(
        new Map(
          got.services.map(({ ip, port, transport, connections, clients, name }) => [
            `${ip} ${port} ${transport}`,
            { connections, clients: clients.length, name },
          ]),
        ),
      ).toEqual(
        new Map([...want.services].map(([key, { clients, ...rest }]) => [key, { ...rest, clients: clients.size }])),
      );
    }),
    { numRuns: 300 },
  );
});

test('connections in rows that were processed before are recognised, and are not counted again', () => {
  fc.assert(
    fc.property(records, fc.nat(200), (all, cut) => {
      const at = Math.min(cut, all.length);
      const whole = block(all);
      const memory = new ConnectionMemory(2 ** 12);
      const observations = new Observations();
      observations.recall(whole, memory, 0, at);
      const facts: { connections: number; bytes: number }[] = [];
      const sink = { flow: ({ connections, bytes }: FlowFact) => void facts.push({ connections, bytes }) };
      observations.add(whole, memory, [sink], at, all.length);
      expect(facts).toEqual(
        plainly(all)
          .facts.slice(at)
          .map(({ connections, bytes }) => ({ connections, bytes })),
      );
    }),
    { numRuns: 100 },
  );
});

describe('the second report of an open connection is recognised after more ended connections than the cache has slots', () => {
  const zeek = (uid: string, conn_state: string, duration: number | undefined, proto = 'tcp') => ({
    _path: 'conn',
    ts: start / 1000,
    uid,
    'id.orig_h': '192.0.2.1',
    'id.orig_p': 4711,
    'id.resp_h': '10.0.0.1',
    'id.resp_p': 22,
    proto,
    conn_state,
    duration,
  });
  const suricata = (flow_id: number, state: string, proto = 'TCP') => ({
    event_type: 'flow',
    timestamp: '2026-11-20T00:00:00.000000+0000',
    flow_id,
    src_ip: '192.0.2.1',
    src_port: 4711,
    dest_ip: '10.0.0.1',
    dest_port: 22,
    proto,
    flow: { state, pkts_toserver: 3, pkts_toclient: 3, bytes_toserver: 180, bytes_toclient: 180 },
  });
  const ecs = (id: string, type: string[]) => ({
    '@timestamp': '2026-11-20T00:00:00.000Z',
    event: { category: ['network'], type, duration: 10_000_000_000, start: '2026-11-20T00:00:00.000Z' },
    flow: { id },
    source: { ip: '192.0.2.1', port: 4711, packets: 3 },
    destination: { ip: '10.0.0.1', port: 22, packets: 3 },
    network: { transport: 'tcp' },
  });

  test.each<[string, object, (connection: number) => object]>([
    ['Zeek, TCP', zeek('C', 'S1', 600), (i) => zeek(`C${i}`, ['SF', 'S0', 'REJ', 'RSTO'][i % 4]!, 2)],
    ['Zeek, TCP begun before the capture', zeek('C', 'OTH', 600), (i) => zeek(`C${i}`, 'OTH', 2)],
    [
      'Zeek, UDP',
      zeek('C', 'SF', 600, 'udp'),
      (i) => zeek(`C${i}`, i % 2 ? 'SF' : 'S0', i % 2 ? 0.1 : undefined, 'udp'),
    ],
    ['Zeek, ICMP', zeek('C', 'OTH', 600, 'icmp'), (i) => zeek(`C${i}`, 'OTH', 2, 'icmp')],
    ['Suricata, TCP', suricata(1, 'bypassed'), (i) => suricata(i + 2, i % 2 ? 'closed' : 'new')],
    ['Suricata, UDP', suricata(1, 'bypassed', 'UDP'), (i) => suricata(i + 2, i % 2 ? 'established' : 'new', 'UDP')],
    ['ECS', ecs('open', ['connection', 'start']), (i) => ecs(`flow ${i}`, ['connection', 'end'])],
    ['ECS, without a state', ecs('open', ['connection']), (i) => ecs(`flow ${i}`, ['connection', 'end'])],
  ])('%s', (_sensor, open, ended) => {
    const body = [open, ...Array.from({ length: 1000 }, (_, i) => ended(i)), open];
    const { blocks } = parse(body, { home: ['10.0.0.0/8'] });
    expect(blocks).toHaveLength(1);
    const whole = openBlock(blocks[0]!, 1);
    expect(whole.rows).toBe(body.length);

    for (const recalledRows of [0, 500]) {
      const observations = new Observations();
      const memory = new ConnectionMemory(64);
      observations.recall(whole, memory, 0, recalledRows);
      const connections: number[] = [];
      observations.add(whole, memory, [{ flow: (fact) => void connections.push(fact.connections) }], recalledRows);
      expect(memory.forgotten).toBeGreaterThan(900);
      expect(connections.at(-1)).toBe(0);
    }
  });
});
