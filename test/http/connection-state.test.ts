/** Services, assets, rules and detectors agree whether a connection was answered, for every state of every sensor. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import type { NetworkEvent } from '../../src/contract/resources/network-event.ts';
import type { Service as Offer } from '../../src/contract/resources/service.ts';
import { counted, inBodies } from '../system/counted.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let token: string;
const start = Date.UTC(2026, 1, 2);
const iso = (ms: number) => new Date(ms).toISOString().replace('Z', '000+0000');

type Json = Record<string, unknown>;
type Row = readonly [what: string, state: string | undefined, answered: boolean, line: Json];

const zeek = (conn_state: string, more: Json = {}): Json => ({
  _path: 'conn',
  ts: start / 1000,
  proto: 'tcp',
  conn_state,
  orig_pkts: 4,
  resp_pkts: 4,
  orig_ip_bytes: 400,
  resp_ip_bytes: 400,
  ...more,
});
const eve = (state: string, pkts_toclient: number, tcp: Json | undefined, more: Json = {}): Json => ({
  event_type: 'flow',
  timestamp: iso(start + 1000),
  proto: 'TCP',
  ...(tcp === undefined ? {} : { tcp }),
  ...more,
  flow: {
    pkts_toserver: 4,
    pkts_toclient,
    bytes_toserver: 240,
    bytes_toclient: 60 * pkts_toclient,
    start: iso(start),
    end: iso(start + 500),
    state,
    reason: 'timeout',
    alerted: false,
    ...((more.flow as Json | undefined) ?? {}),
  },
});
const flags = (tcp_flags: string, tcp_flags_ts: string, tcp_flags_tc: string) => ({
  tcp_flags,
  tcp_flags_ts,
  tcp_flags_tc,
});
const ecs = (type: string[], more: Json = {}, dst = 4): Json => ({
  '@timestamp': new Date(start).toISOString(),
  event: { category: ['network'], type },
  network: { transport: 'tcp', ...more },
  source: { packets: 4, bytes: 240 },
  destination: { packets: dst, bytes: 60 * dst },
});
const own = (more: Json): Json => ({
  type: 'network_event',
  timestamp: new Date(start).toISOString(),
  transport: 'tcp',
  src_packets: 4,
  dst_packets: 4,
  ...more,
});

const rows: readonly Row[] = [
  ['Zeek S0', 'attempt', false, zeek('S0', { history: 'S', resp_pkts: 0, resp_ip_bytes: 0 })],
  ['Zeek S1', 'open', true, zeek('S1', { history: 'ShADad' })],
  ['Zeek S1 half open', 'open', true, zeek('S1', { history: 'Sh' })],
  ['Zeek SF', 'closed', true, zeek('SF', { history: 'ShADadFf' })],
  ['Zeek SF without history', 'closed', true, zeek('SF')],
  ['Zeek SF with an unseen start', 'closed', true, zeek('SF', { history: 'DdFf' })],
  ['Zeek REJ', 'refused', false, zeek('REJ', { history: 'Sr' })],
  ['Zeek S2', 'failed', true, zeek('S2', { history: 'ShAF' })],
  ['Zeek S3', 'failed', true, zeek('S3', { history: 'ShAf' })],
  ['Zeek RSTO', 'reset', true, zeek('RSTO', { history: 'ShR' })],
  ['Zeek RSTR', 'reset', true, zeek('RSTR', { history: 'ShADadr' })],
  ['Zeek RSTR refused', 'refused', false, zeek('RSTR', { history: 'SrFRr' })],
  ['Zeek RSTOS0', 'reset', false, zeek('RSTOS0', { history: 'SR', resp_pkts: 0 })],
  ['Zeek RSTRH', 'reset', false, zeek('RSTRH', { history: '^hr' })],
  ['Zeek SH', 'failed', false, zeek('SH', { history: 'SF', resp_pkts: 0 })],
  ['Zeek SHR', 'failed', false, zeek('SHR', { history: '^hf' })],
  ['Zeek OTH', 'traffic', false, zeek('OTH', { history: 'C' })],
  ['Zeek UDP answered', 'closed', true, zeek('SF', { proto: 'udp', history: 'Dd' })],
  ['Zeek UDP silent', 'attempt', false, zeek('S0', { proto: 'udp', history: 'D', resp_pkts: 0, resp_ip_bytes: 0 })],
  ['Zeek ICMP answered', 'traffic', true, zeek('OTH', { proto: 'icmp' })],
  ['Zeek ICMP silent', 'traffic', false, zeek('OTH', { proto: 'icmp', resp_pkts: 0, resp_ip_bytes: 0 })],
  ['EVE closed by FIN', 'closed', true, eve('closed', 4, flags('1b', '1b', '1b'))],
  ['EVE closed by RST after data', 'reset', true, eve('closed', 4, flags('1e', '1e', '1a'))],
  ['EVE half-open scan', 'reset', true, eve('closed', 1, flags('16', '06', '12'))],
  ['EVE refused', 'refused', false, eve('closed', 1, flags('16', '02', '14'))],
  ['EVE refused repeatedly', 'refused', false, eve('closed', 9, flags('16', '02', '14'))],
  ['EVE refused, one side only', 'refused', false, eve('closed', 9, { tcp_flags_ts: '02', tcp_flags_tc: '14' })],
  ['EVE refused, sides unknown', 'refused', false, eve('closed', 3, { tcp_flags: '16' })],
  ['EVE closed, one packet', 'refused', false, eve('closed', 1, undefined)],
  [
    'EVE refused and alerted',
    'refused',
    false,
    eve('closed', 9, flags('16', '02', '14'), { flow: { alerted: true, reason: 'forced' } }),
  ],
  ['EVE attempt closed without an answer', 'attempt', false, eve('closed', 0, flags('06', '06', '00'))],
  ['EVE established', 'open', true, eve('established', 4, flags('1a', '1a', '1a'))],
  ['EVE bypassed', 'open', true, eve('bypassed', 4, flags('1a', '1a', '1a'))],
  ['EVE bypassed after an RST', 'reset', true, eve('bypassed', 4, flags('1e', '1e', '1a'))],
  ['EVE established, RST after data', 'reset', true, eve('established', 4, flags('1e', '1a', '1e'))],
  ['EVE established, refused', 'refused', false, eve('established', 1, flags('16', '02', '14'))],
  ['EVE new, refused', 'refused', false, eve('new', 1, flags('16', '02', '14'))],
  ['EVE new, RST to a silent server', 'attempt', false, eve('new', 0, flags('06', '06', '00'))],
  ['EVE new, silent', 'attempt', false, eve('new', 0, flags('02', '02', '00'))],
  ['EVE new, SYN-ACK', 'open', true, eve('new', 1, flags('12', '02', '12'))],
  ['EVE new, with an unseen start', 'traffic', false, eve('new', 2, flags('10', '10', '10'))],
  ['EVE UDP answered', 'closed', true, eve('established', 2, undefined, { proto: 'UDP' })],
  ['EVE UDP bypassed', 'open', true, eve('bypassed', 4, undefined, { proto: 'UDP' })],
  ['EVE UDP silent', 'attempt', false, eve('new', 0, undefined, { proto: 'UDP' })],
  ['EVE ICMP answered', 'closed', true, eve('established', 4, undefined, { proto: 'ICMP' })],
  ['EVE ICMP silent', 'attempt', false, eve('new', 0, undefined, { proto: 'ICMP' })],
  ['ECS ended', 'closed', true, ecs(['connection', 'end'])],
  ['ECS ended, silent', 'attempt', false, ecs(['connection', 'end'], {}, 0)],
  ['ECS denied', 'refused', false, ecs(['connection', 'denied'])],
  ['ECS started', 'open', true, ecs(['connection', 'start'])],
  ['ECS with Zeek word', 'refused', false, ecs(['connection', 'end'], { state: 'REJ', history: 'Sr' })],
  ['ECS with EVE word', 'refused', false, ecs(['connection', 'end'], { state: 'closed', history: '16' })],
  ['native closed', 'closed', true, own({ state: 'closed' })],
  ['native refused', 'refused', false, own({ state: 'refused' })],
  ['native reset', 'reset', true, own({ state: 'reset' })],
  ['native by Zeek word', 'refused', false, own({ conn_state: 'REJ' })],
  ['native by EVE word', 'refused', false, own({ conn_state: 'closed', history: '16' })],
  ['native without state', undefined, false, own({})],
];

/** Returns a separate client for each row: alerts about one client and many destinations would become one alert. */
const clientOf = (n: number) => `10.9.0.${n + 1}`;
const dstOf = (n: number) => `10.9.1.${n + 1}`;
const scannerOf = (n: number) => `10.9.2.${n + 1}`;
const scannedPorts = 40;

const isIcmp = ({ proto }: Json) => /^icmp$/i.test(`${proto}`);

/** Sets the addresses and the port of a line, and a connection id. */
function aimed(line: Json, src: string, dst: string, port: number, id: number): Json {
  if (line._path !== undefined) {
    const [from, to] = isIcmp(line) ? [8, 0] : [40_000, port];
    return { ...line, uid: `C${id}`, 'id.orig_h': src, 'id.orig_p': from, 'id.resp_h': dst, 'id.resp_p': to };
  }
  if (line.event_type !== undefined) {
    const ports = isIcmp(line) ? { icmp_type: 8, icmp_code: 0 } : { src_port: 40_000, dest_port: port };
    return { ...line, flow_id: id + 1, src_ip: src, dest_ip: dst, ...ports };
  }
  if (line.type === undefined)
    return {
      ...line,
      source: { ...(line.source as Json), ip: src, port: 40_000 },
      destination: { ...(line.destination as Json), ip: dst, port },
    };
  return { ...line, src_ip: src, src_port: 40_000, dst_ip: dst, dst_port: port };
}

/** One connection in each state. */
const lines = rows.map(([, , , line], n) => JSON.stringify(aimed(line, clientOf(n), dstOf(n), 5000 + n, n)));
/** Connections to many ports of an external host, in each state. */
const scans = rows.flatMap(([, , , line], n) =>
  Array.from({ length: scannedPorts }, (_, port) =>
    JSON.stringify(aimed(line, scannerOf(n), '203.0.113.9', port + 1, 1000 * (n + 1) + port)),
  ),
);

const rule = (title: string, field: string) => `title: ${title}
id: ${title === 'answered' ? '6f9619ff-8b86-4011-b42d-00c04fc964ff' : '6f9619ff-8b86-4011-b42d-00c04fc964fe'}
status: test
logsource:
  category: firewall
detection:
  selection:
    ${field}
  condition: selection
level: low
`;

async function all<A>(
  operation: 'listNetworkEvents' | 'listServices' | 'listAlerts' | 'listAssets',
  path: string,
): Promise<A[]> {
  const { body } = await service.call(operation, `GET /api/v1/${path}`, { token });
  return (body as { data: { attributes: A }[] }).data.map(({ attributes }) => attributes);
}

describe.each([lines.length, 7, 1])('the outcome of a connection, in bodies of %i lines', (perBody) => {
  let events: ReadonlyMap<string, NetworkEvent>;
  let offers: readonly string[];
  let hosts: readonly string[];
  let answeredBy: readonly string[];
  let unansweredBy: readonly string[];
  let scanners: readonly string[];

  beforeAll(async () => {
    service = await openService();
    token = await adminOf(service);
    for (const [title, field] of [
      ['answered', 'answered: true'],
      ['vain', 'state: [attempt, refused]'],
    ] as const) {
      const made = await service.call('createRule', 'POST /api/v1/rules', {
        token,
        json: { source: rule(title, field) },
      });
      expect(made.status).toBe(201);
    }
    for (const text of [...inBodies(lines, perBody), ...inBodies(scans, perBody * scannedPorts)]) {
      const { body } = await service.call('ingest', 'POST /api/v1/ingest', {
        token,
        text,
        headers: { 'content-type': 'application/x-ndjson' },
      });
      expect(body).toMatchObject({ data: { accepted: text.split('\n').length, errors: [] } });
    }
    await counted(service, token);
    events = new Map(
      (await all<NetworkEvent>('listNetworkEvents', 'events/network?per_page=1000&dst_ip=10.9.1.0/24')).map((one) => [
        one.dst_ip,
        one,
      ]),
    );
    offers = (await all<Offer>('listServices', 'services?per_page=1000')).map(({ ip }) => ip);
    const assets = await all<{ ip_addresses: string[] }>('listAssets', 'assets?per_page=1000');
    hosts = assets.flatMap(({ ip_addresses }) => ip_addresses);
    const alerts = await all<Alert>('listAlerts', 'alerts?per_page=1000');
    const found = (name: string) => alerts.filter(({ rule_name }) => rule_name === name);
    answeredBy = found('answered').map(({ dst_ip }) => dst_ip!);
    unansweredBy = found('vain').map(({ dst_ip }) => dst_ip!);
    scanners = found('Port scan').map(({ src_ip }) => src_ip!);
    await service.close();
  });

  test.each(rows.map(([what, state, answered, line], n) => ({ what, state, answered, line, n })))(
    '$what: state $state, answered $answered',
    ({ state, answered, line, n }) => {
      const dst = dstOf(n);
      const isVain = state === 'attempt' || state === 'refused';
      expect(events.get(dst)?.state).toBe(state);
      expect(offers.includes(dst)).toBe(answered && !isIcmp(line));
      expect(hosts.includes(dst)).toBe(answered);
      expect(answeredBy.includes(dst)).toBe(answered);
      expect(unansweredBy.includes(dst)).toBe(isVain);
      expect(scanners.includes(scannerOf(n))).toBe(isVain && !isIcmp(line));
    },
  );
});
