import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertServerMessage } from '../../scripts/contract-assertions.ts';
import type { Dashboard } from '../../src/contract/resources/dashboard.ts';
import type { IngestAnswer } from '../../src/contract/resources/ingest.ts';
import type { Status } from '../../src/contract/resources/status.ts';
import type { Topology } from '../../src/contract/resources/topology.ts';
import type { Trends } from '../../src/contract/resources/trends.ts';
import { type OperationId, routeOf } from '../../src/contract/routes.ts';
import { alertExports, alertGroupings, windows } from '../../src/contract/vocabulary.ts';
import { linkBytes } from '../../src/events/plausible-bytes.ts';
import {
  ecsAlert,
  ecsConn,
  ecsEveAnswer,
  ecsEveFlow,
  ecsNotice,
  ecsZeekDns,
  eveAlert,
  eveAnswer,
  eveFlow,
  moduleConn,
  moduleEve,
  dns as packetbeatDns,
  flow as packetbeatFlow,
} from '../ingest/ecs-documents.ts';
import { type AnyValue, anyOf, encodeRequest, requestOf } from '../ingest/otlp-messages.ts';
import { MemoryWire } from './live/fakes.ts';
import { memoryHub } from './live/memory-hub.ts';
import { readArrow } from './read-arrow.ts';
import { adminOf, openService, type Service } from './service.ts';

/** Extreme values as JSON texts, because JSON.stringify cannot write some of them. */
const extremes = [
  '0',
  '-1',
  '0.5',
  '2147483648',
  '4294967296',
  '999999999999',
  '1000000000000000',
  '1000000000000001',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '9223372036854775808',
  '18446744073709551615',
  '18446744073709551616',
  '1e308',
  '1e309',
  'NaN',
  '"NaN"',
  '"Infinity"',
  '"9007199254740991"',
  'null',
];

const hourMs = 3_600_000;
const now = Date.now();
/** Two hours ago, in epoch milliseconds. */
const before = now - 7_200_000;
const iso = new Date(before).toISOString();
const zeekConn = {
  _path: 'conn',
  ts: before / 1000,
  uid: 'C1',
  'id.orig_h': '10.0.0.1',
  'id.orig_p': 40_000,
  'id.resp_h': '203.0.113.1',
  'id.resp_p': 443,
  proto: 'tcp',
  duration: 1,
  conn_state: 'SF',
  orig_bytes: 1,
  resp_bytes: 1,
  orig_ip_bytes: 2,
  resp_ip_bytes: 2,
  orig_pkts: 1,
  resp_pkts: 1,
  missed_bytes: 0,
  vlan: 1,
};
const zeekDns = {
  _path: 'dns',
  ts: before / 1000,
  uid: 'D1',
  'id.orig_h': '10.0.0.1',
  'id.orig_p': 40_000,
  'id.resp_h': '10.0.0.53',
  'id.resp_p': 53,
  proto: 'udp',
  trans_id: 1,
  rtt: 0.1,
  query: 'www.example.com',
  qclass: 1,
  qtype: 1,
  rcode: 0,
  answers: ['203.0.113.1'],
  TTLs: [60],
};
const eve = {
  timestamp: iso,
  src_ip: '10.0.0.1',
  src_port: 40_000,
  dest_ip: '203.0.113.1',
  dest_port: 443,
  proto: 'TCP',
  vlan: [1],
};
const flow = {
  pkts_toserver: 1,
  pkts_toclient: 1,
  bytes_toserver: 2,
  bytes_toclient: 2,
  start: iso,
  end: iso,
};
const bare = { src_ip: '10.0.0.1', src_port: 40_000, dst_ip: '203.0.113.1', dst_port: 443, timestamp: iso };
const ecs = {
  '@timestamp': iso,
  event: { category: ['network'], type: ['end'], duration: 1_000_000 },
  source: { ip: '10.0.0.1', port: 40_000, bytes: 2, packets: 1 },
  destination: { ip: '203.0.113.1', port: 443, bytes: 2, packets: 1 },
  network: { transport: 'tcp', vlan: { id: 1 } },
};

/** Returns a shipper's document, with its times changed to two hours ago. */
function recent(document: object): object {
  const text = JSON.stringify(document).replaceAll(/2026-01-02T[\d:.]+Z/g, iso);
  return JSON.parse(text.replaceAll('1767323045.678', `${before / 1000}`));
}

/** Records of all formats, each with all of its numbers. */
const formats: Readonly<Record<string, object>> = {
  'zeek conn': zeekConn,
  'zeek dns': zeekDns,
  'zeek notice': { ...zeekConn, _path: 'notice', note: 'Scan::Port_Scan', msg: 'scan', n: 1, p: 1 },
  'zeek known_services': {
    _path: 'known_services',
    ts: before / 1000,
    host: '10.0.0.1',
    port_num: 22,
    port_proto: 'tcp',
  },
  'zeek notice alone': {
    ...{ _path: 'notice', ts: before / 1000, note: 'Scan::Address_Scan', msg: 'scan', src: '10.0.0.1' },
    ...{ dst: '203.0.113.1', p: 22, n: 1, suppress_for: 3600 },
  },
  'zeek dhcp': {
    ...{ _path: 'dhcp', ts: before / 1000, mac: 'aa:bb:cc:00:11:22', host_name: 'printer' },
    ...{ assigned_addr: '10.0.0.9', lease_time: 3600, duration: 0.1, msg_types: ['REQUEST', 'ACK'] },
  },
  'zeek ssl': { ...zeekConn, _path: 'ssl', server_name: 'files.example', established: true },
  'zeek http': {
    ...{ ...zeekConn, _path: 'http', host: 'files.example', uri: '/', method: 'GET', status_code: 200 },
    ...{ trans_depth: 1, request_body_len: 1, response_body_len: 1 },
  },
  'zeek quic': { ...zeekConn, _path: 'quic', server_name: 'files.example' },
  'zeek software': {
    ...{ _path: 'software', ts: before / 1000, host: '10.0.0.1', host_p: 80, software_type: 'HTTP::SERVER' },
    ...{ name: 'nginx', 'version.major': 1, 'version.minor': 2, 'version.minor2': 3 },
  },
  'suricata dhcp': {
    ...{ ...eve, event_type: 'dhcp', src_port: 67, dest_port: 68, proto: 'UDP' },
    dhcp: {
      ...{ type: 'reply', id: 1, dhcp_type: 'ack', client_mac: 'aa:bb:cc:00:11:22', hostname: 'printer' },
      ...{ assigned_ip: '10.0.0.9', lease_time: 3600 },
    },
  },
  'suricata tls': { ...eve, event_type: 'tls', tls: { sni: 'files.example', version: 'TLS 1.3' } },
  'suricata http': {
    ...{ ...eve, event_type: 'http', tx_id: 1 },
    http: { hostname: 'files.example', url: '/', status: 200, length: 1 },
  },
  'suricata quic': { ...eve, event_type: 'quic', quic: { sni: 'files.example', version: '1' } },
  'suricata flow': { ...eve, event_type: 'flow', flow },
  'suricata alert': {
    ...{ ...eve, event_type: 'alert', flow, direction: 'to_server', icmp_type: 8, icmp_code: 0 },
    alert: { gid: 1, signature_id: 2, rev: 3, signature: 's', category: 'c', severity: 3 },
    http: { status: 200 },
  },
  'suricata alert of ICMP': {
    ...{
      timestamp: iso,
      src_ip: '10.0.0.1',
      dest_ip: '203.0.113.1',
      proto: 'ICMP',
      src_port: 1,
      dest_port: 1,
    },
    ...{
      event_type: 'alert',
      icmp_type: 8,
      icmp_code: 0,
      flow: { src_ip: '10.0.0.1', dest_ip: '203.0.113.1' },
    },
    alert: { signature_id: 2, signature: 's', category: 'c', severity: 3 },
  },
  'suricata dns': {
    ...{ ...eve, event_type: 'dns', dest_port: 53, proto: 'UDP' },
    dns: {
      type: 'answer',
      id: 1,
      rrname: 'a.example',
      rrtype: 'A',
      answers: [{ rrtype: 'A', ttl: 1, rdata: '203.0.113.1' }],
    },
  },
  'suricata fileinfo': {
    ...{
      ...eve,
      event_type: 'fileinfo',
      tx_id: 1,
      http: { hostname: 'files.example', status: 200, length: 1 },
    },
    fileinfo: { filename: '/a', size: 1, start: 0, end: 1, state: 'CLOSED', stored: false, tx_id: 1 },
  },
  ...Object.fromEntries(
    Object.entries({
      ...{ ecsConn, moduleConn, ecsZeekDns, ecsNotice, ecsEveFlow, ecsAlert, ecsEveAnswer },
      ...{ packetbeatFlow, packetbeatDns },
    }).map(([name, document]) => [`ecs ${name}`, recent(document)]),
  ),
  'ecs flow': ecs,
  'ecs dns': {
    ...ecs,
    dns: {
      id: 1,
      response_code: 0,
      question: { name: 'a.example' },
      answers: [{ ttl: 1, data: '203.0.113.1' }],
    },
  },
  'native network': {
    ...{ type: 'network_event', ...bare, transport: 'tcp', duration_ms: 1, vlan: 1, missed_bytes: 0 },
    ...{
      src_bytes: 2,
      dst_bytes: 2,
      src_payload_bytes: 1,
      dst_payload_bytes: 1,
      src_packets: 1,
      dst_packets: 1,
    },
  },
  'native dns': {
    ...{
      type: 'dns_event',
      ...bare,
      transport: 'udp',
      kind: 'transaction',
      transaction_id: 1,
      rcode: 0,
      rtt_ms: 1,
    },
    answers: [{ type: 'A', ttl: 1, data: '203.0.113.1' }],
  },
};

/** Returns copies of the record. In each copy, an extreme value replaces one of the numbers. */
function poisoned(record: object): string[] {
  const text = JSON.stringify(record);
  const places = [...text.matchAll(/(?<=[:[])-?[0-9.]+(?=[,}\]])/g)];
  return places.flatMap(({ index, 0: number }) =>
    extremes.map((value) => text.slice(0, index) + value + text.slice(index + number.length)),
  );
}
const lines = Object.values(formats).flatMap(poisoned);

/** Documents of Filebeat's Suricata module: each document has a Suricata line as a string. */
const wrappedByModule = [eveFlow, eveAlert, eveAnswer].flatMap((record) => {
  const document = moduleEve(recent(record) as typeof record);
  const original = poisoned(recent(record)).map((line) => ({
    dataset: 'suricata.eve',
    module: 'suricata',
    original: line,
  }));
  return original.map((event) => JSON.stringify({ ...document, event }));
});

/** Returns a Zeek TSV log with copies of the record. In each copy, an extreme value replaces one of the numbers. */
function tsvOf({ _path, ...record }: { readonly _path: string }): string {
  const fields = Object.entries<unknown>(record);
  const rows = fields.flatMap(([poisonedName, value]) =>
    [value].flat().some((one) => typeof one === 'number')
      ? extremes.map((extreme) => fields.map(([name, own]) => (name === poisonedName ? extreme : own)).join('\t'))
      : [],
  );
  const names = fields.map(([name]) => name).join('\t');
  const types = fields.map(([, value]) => (Array.isArray(value) ? 'vector[string]' : 'string')).join('\t');
  return `#separator \\x09\n#path\t${_path}\n#fields\t${names}\n#types\t${types}\n${rows.join('\n')}\n`;
}

/** Typed numbers of OTLP: integers of 64 bits, and doubles that JSON cannot express. */
const typedExtremes: readonly AnyValue[] = [
  ...['0', '-1', '9007199254740991', '9007199254740993', '9223372036854775807', '-9223372036854775808'].map(
    (intValue) => ({ intValue }),
  ),
  ...[0.5, 1e15, 2 ** 53, 1e308, Infinity, -Infinity, NaN].map((doubleValue) => ({ doubleValue })),
];

/** Returns copies of the record as structured bodies. In each copy, a typed extreme replaces one of the numbers. */
function typed(record: object): AnyValue[] {
  const text = JSON.stringify(anyOf(record));
  const places = [...text.matchAll(/\{"(intValue|doubleValue)":[^}]+\}/g)];
  return places.flatMap(({ index, 0: number }) =>
    typedExtremes.map((extreme) =>
      JSON.parse(`${text.slice(0, index)}"here"${text.slice(index + number.length)}`, (_, value) =>
        value === 'here' ? extreme : value,
      ),
    ),
  );
}

const structured = encodeRequest(
  requestOf(
    Object.values(formats)
      .flatMap(typed)
      .map((body) => ({ body })),
  ),
);

/** Finds numbers that no response may contain, with the text before them. Digits in strings are fine. */
const strange = (text: string) =>
  text.match(/.{0,60}(Infinity|NaN|[+-]Inf\b|(?<!["0-9.])900719925474099|(?<![0-9a-f])1e\+?308)/g) ?? [];

let service: Service;
let token: string;
let hub: ReturnType<typeof memoryHub>;
beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
  hub = memoryHub(service.reader);
});
afterAll(() => service.close());

const get = async <T>(operation: OperationId, query = ''): Promise<T> => {
  const answer = await service.call(operation, `GET ${routeOf(operation).path}${query}`, { token });
  expect(answer.status).toBe(200);
  return (answer.body as { data: { attributes: T } }).data.attributes;
};
/** Resolves once all stored events have been processed. */
const counted = async () => {
  const json = { name: `counted ${crypto.randomUUID()}` };
  const { status } = await service.call('createAsset', 'POST /api/v1/assets', { token, json });
  expect(status).toBe(201);
};
const figures = async () => {
  const { totals, series, top_talkers_by_bytes } = await get<Dashboard>('getDashboard', '?window=24h');
  const { nodes } = await get<Topology>('getTopology', '?limit=2000');
  return { totals, series, top_talkers_by_bytes, nodes };
};

describe('after every number of every format was sent as every extreme value', () => {
  beforeAll(async () => {
    // NaN is not JSON, so lines with NaN are rejected as invalid JSON. The errors of other lines name the field.
    const headers = { 'content-type': 'application/x-ndjson' };
    const text = [...lines, ...wrappedByModule, tsvOf(zeekConn), tsvOf(zeekDns)].join('\n');
    const { body } = await service.call('ingest', 'POST /api/v1/ingest', { token, text, headers });
    const { errors, accepted } = (body as { data: IngestAnswer }).data;
    expect(accepted).toBeGreaterThan(lines.length / 4);
    expect(errors.length).toBeGreaterThan(10);
    const wrapped = encodeRequest(requestOf(lines.map((line) => ({ body: { stringValue: line } }))));
    const sent = await fetch(`${service.url}/v1/logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-protobuf' },
      body: wrapped,
    });
    expect(sent.status).toBe(200);
    const typedLogs = await fetch(`${service.url}/v1/logs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-protobuf' },
      body: structured,
    });
    expect(typedLogs.status).toBe(200);
    const events = lines.filter((line) => !line.includes('NaN')).map((line) => `{"event":${line}}`);
    const collected = await fetch(`${service.url}/services/collector/event`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: events.join('\n'),
    });
    expect(collected.status).toBe(200);
    // Extreme times in the envelope, for a record without a time and for a record with its own time.
    for (const event of [JSON.stringify({ ...zeekDns, ts: undefined }), JSON.stringify(zeekConn)]) {
      for (const time of extremes.filter((value) => value !== 'NaN')) {
        const timed = await fetch(`${service.url}/services/collector/event`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}` },
          body: `{"time":${time},"event":${event}}`,
        });
        expect([time, timed.status < 500]).toEqual([time, true]);
      }
    }
    await counted();
  });

  const lists = ['listNetworkEvents', 'listDnsEvents', 'listAlerts', 'listAssets', 'listServices'] as const;
  const reads: readonly (readonly [OperationId, string])[] = [
    ...windows.map((window) => ['getDashboard', `?window=${window}`] as const),
    ...windows.map((window) => ['getTrends', `?window=${window}`] as const),
    ['getTopology', ''],
    ['getRiskScore', ''],
    ['getTriageModel', ''],
    ...alertGroupings.map((by) => ['groupAlerts', `?by=${by}`] as const),
    ...alertExports.map((format) => ['exportAlerts', `?format=${format}`] as const),
    ['getAlertHistogram', ''],
    ['getNetworkEventHistogram', ''],
    ['getDnsEventHistogram', ''],
    ['getMetrics', ''],
    ...['src_bytes', 'duration_ms', 'src_port', 'vlan'].map(
      (field) => ['getNetworkEventValues', `?by=${field}`] as const,
    ),
    ...['rcode', 'rtt_ms'].map((field) => ['getDnsEventValues', `?by=${field}`] as const),
    ...lists.map((list) => [list, '?per_page=1000'] as const),
  ];
  it.each(reads)(
    '%s%s contains neither Infinity nor NaN nor the largest integer, and matches its schema',
    async (operation, query) => {
      const { status, body } = await service.call(operation, `GET ${routeOf(operation).path}${query}`, {
        token,
      });
      expect(status).toBe(200);
      const text = typeof body === 'string' ? body.replace(/^.*le="\+Inf".*$/gm, '') : JSON.stringify(body);
      expect(strange(text)).toEqual([]);
    },
  );

  it.each(windows)('the risk history of an asset over %s contains neither Infinity nor NaN', async (window) => {
    const { body } = await service.call('listAssets', 'GET /api/v1/assets', { token });
    for (const { id } of (body as { data: { id: string }[] }).data) {
      const path = `GET /api/v1/assets/${id}/risk?window=${window}`;
      const answer = await service.call('getAssetRiskHistory', path, { token });
      expect([answer.status, strange(JSON.stringify(answer.body))]).toEqual([200, []]);
    }
  });

  it('messages of all channels contain neither Infinity nor NaN, live and replayed', async () => {
    const names = ['events.network', 'events.dns', 'alerts', 'topology'] as const;
    const live = names.map((name) => {
      const wire = new MemoryWire();
      hub.subscribe(wire, name);
      return wire;
    });
    const { events, alerts } = service.published;
    const { reader } = service;
    hub.feeds.events(events);
    const heads = { alerts: reader.head('alerts'), topology: reader.head('topology') };
    const processed = { network: reader.head('events.network') + 1, dns: reader.head('events.dns') + 1 };
    hub.feeds.committed({ alerts, scans: [], heads, processed });
    const late = memoryHub(service.reader);
    const replayed = names.map((name) => {
      const wire = new MemoryWire();
      late.subscribe(wire, name, 0);
      return wire;
    });
    for (const { sent } of [...live, ...replayed]) {
      await expect.poll(() => sent.length).toBeGreaterThan(0);
      for (const message of sent) assertServerMessage(message);
      expect(strange(JSON.stringify(sent))).toEqual([]);
    }
  });

  it.each(lists)('%s has the same ids in lines and in Arrow, and neither Infinity nor NaN', async (operation) => {
    const read = (accept: string) =>
      fetch(`${service.url}${routeOf(operation).path}`, {
        headers: { authorization: `Bearer ${token}`, accept },
      });
    const text = await (await read('application/x-ndjson')).text();
    expect(strange(text)).toEqual([]);
    const bytes = new Uint8Array(await (await read('application/vnd.apache.arrow.stream')).arrayBuffer());
    const rows = readArrow(operation, bytes).batches.flat();
    expect(rows.map(({ id }) => id)).toEqual(
      text
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id),
    );
    expect(strange(JSON.stringify(rows))).toEqual([]);
  });

  it('implausible byte counts of a connection that would end long after its report are left out of sums', async () => {
    const old = await figures();
    const json = Array.from({ length: 30 }, (_, n) => ({
      ...{ ...formats['native network'], duration_ms: 2e14, src_bytes: 1e15, dst_bytes: 1e15 },
      ...{ timestamp: new Date().toISOString(), src_port: n + 1 },
    }));
    const { body } = await service.call('ingest', 'POST /api/v1/ingest', { token, json });
    expect((body as { data: IngestAnswer }).data.accepted).toBe(30);
    await counted();
    expect((await figures()).totals.bytes - old.totals.bytes).toBeLessThan(1e9);
  });

  it('plausible connections are counted to the byte', async () => {
    const old = await figures();
    expect(old.totals.bytes).toBeLessThan(1e14);
    const normal = Array.from({ length: 200 }, (_, n) => ({
      ...{ type: 'network_event', timestamp: new Date().toISOString(), transport: 'tcp', state: 'closed' },
      ...{ src_ip: `10.9.0.${n % 5}`, dst_ip: '10.9.1.1', src_port: 1000 + n, dst_port: 443 },
      ...{ duration_ms: 1000, src_bytes: 1_000_003 + n, dst_bytes: 2 },
    }));
    const sum = normal.reduce((all, { src_bytes, dst_bytes }) => all + src_bytes + dst_bytes, 0);
    await service.call('ingest', 'POST /api/v1/ingest', { token, json: normal });
    await counted();
    const after = await figures();
    expect(after.totals.bytes - old.totals.bytes).toBe(sum);
    expect(after.totals.network_events - old.totals.network_events).toBe(normal.length);
    const bytesOf = ({ series }: typeof after) =>
      series.find(({ metric }) => metric === 'bytes')!.points.reduce((all, { value }) => all + value, 0);
    expect(bytesOf(after) - bytesOf(old)).toBe(sum);
    expect(after.nodes.find(({ id }) => id.includes('10.9.1.1'))).toMatchObject({ bytes: sum });
    const own = normal.filter(({ src_ip }) => src_ip === '10.9.0.1');
    expect(after.top_talkers_by_bytes).toContainEqual(
      expect.objectContaining({
        key: '10.9.0.1',
        bytes: own.reduce((all, { src_bytes, dst_bytes }) => all + src_bytes + dst_bytes, 0),
      }),
    );
  });

  it('no figure exceeds the capacity of links after many long connections that start at the same time', async () => {
    const old = await figures();
    const json = Array.from({ length: 600 }, (_, n) => ({
      ...{ ...formats['native network'], src_ip: `10.0.7.${n % 30}`, src_port: n + 1 },
      ...{ timestamp: new Date(Date.now() - 23 * hourMs).toISOString(), duration_ms: 23 * hourMs },
      ...{ src_bytes: 1e15, dst_bytes: 1e15, state: 'closed' },
    }));
    const { body } = await service.call('ingest', 'POST /api/v1/ingest', { token, json });
    expect((body as { data: IngestAnswer }).data.accepted).toBe(600);
    await counted();
    expect((await figures()).totals.bytes - old.totals.bytes).toBeLessThanOrEqual(linkBytes(hourMs));
    const { limits_reached } = await get<Status>('getStatus');
    expect(limits_reached.find(({ limit }) => limit === 'maxLinkBytesPerMs')?.times).toBeGreaterThan(1);
    const lengths = {
      '15m': hourMs / 4,
      '1h': hourMs,
      '24h': 24 * hourMs,
      '7d': 168 * hourMs,
      '30d': 720 * hourMs,
    };
    for (const window of windows) {
      const most = linkBytes(lengths[window] + hourMs);
      const dashboard = await get<Dashboard>('getDashboard', `?window=${window}`);
      const trends = await get<Trends>('getTrends', `?window=${window}`);
      const from = new Date(Date.now() - lengths[window]).toISOString();
      const topology = await get<Topology>('getTopology', `?limit=2000&from=${from}`);
      const sums = [
        dashboard.totals.bytes,
        ...dashboard.top_talkers_by_bytes.map(({ bytes }) => bytes),
        ...dashboard.series
          .filter(({ metric }) => metric === 'bytes')
          .flatMap(({ points }) => points.map(({ value }) => value)),
        ...trends.metrics
          .filter(({ metric }) => metric === 'bytes')
          .flatMap(({ current, series }) => [current, ...series.map(({ value }) => value)]),
        ...[...topology.nodes, ...topology.edges].map(({ bytes }) => bytes),
      ];
      expect([window, Math.max(...sums.map((sum) => sum ?? 0))]).toEqual([
        window,
        expect.toSatisfy((sum: number) => sum <= most),
      ]);
      expect([window, strange(JSON.stringify([dashboard, trends, topology]))]).toEqual([window, []]);
    }
    const alerts = async () => {
      const path = 'GET /api/v1/alerts?rule_id=behaviour.exfiltration&per_page=1000';
      const answer = await service.call('listAlerts', path, { token });
      return (answer.body as { data: { attributes: { evidence: { bytes_out: number } } }[] }).data;
    };
    await expect.poll(async () => (await alerts()).length, { timeout: 60_000 }).toBeGreaterThan(0);
    const found = await alerts();
    // The evidence has extreme byte counts, but none above the capacity of a link.
    expect(Math.max(...found.map(({ attributes }) => attributes.evidence.bytes_out))).toBeGreaterThan(1e14);
    for (const { attributes } of found)
      expect(attributes.evidence.bytes_out).toBeLessThanOrEqual(linkBytes(24 * hourMs));
    expect(strange(JSON.stringify(found))).toEqual([]);
  });
});
