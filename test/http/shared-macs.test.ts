/** Machines behind one MAC address stay apart, and names that clients choose do not name servers. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import type { Asset } from '../../src/contract/resources/asset.ts';
import { adminOf, openService, type Service } from './service.ts';

/** On a busy machine. */
const patienceMs = 10_000;
let service: Service;
let token: string;
const minute = 60_000;
const hour = 60 * minute;
const start = Date.now() - 5 * 24 * hour;
const iso = (ms: number) => new Date(ms).toISOString().replace('Z', '000+0000');
let count = 0;

const zeek = (ip: string, mac: string | undefined, atMs: number) => ({
  _path: 'conn',
  ts: (start + atMs) / 1000,
  uid: `C${++count}`,
  'id.orig_h': '10.200.0.1',
  'id.orig_p': 40_000,
  'id.resp_h': ip,
  'id.resp_p': 443,
  proto: 'tcp',
  conn_state: 'SF',
  history: 'ShADadFf',
  orig_pkts: 5,
  resp_pkts: 5,
  ...(mac === undefined ? {} : { resp_l2_addr: mac }),
});
const eve = (ip: string, mac: string, atMs: number) => ({
  event_type: 'flow',
  timestamp: iso(start + atMs + 1000),
  flow_id: ++count,
  src_ip: '10.200.0.1',
  src_port: 40_000,
  dest_ip: ip,
  dest_port: 443,
  proto: 'TCP',
  tcp: { tcp_flags: '1b', tcp_flags_ts: '1b', tcp_flags_tc: '1b' },
  ether: { dest_macs: [mac] },
  flow: {
    pkts_toserver: 5,
    pkts_toclient: 5,
    start: iso(start + atMs),
    end: iso(start + atMs + 1000),
    state: 'closed',
  },
});
const alertAt = (ip: string, atMs: number) => ({
  timestamp: iso(start + atMs),
  event_type: 'alert',
  src_ip: '203.0.113.9',
  src_port: 1234,
  dest_ip: ip,
  dest_port: 443,
  proto: 'TCP',
  alert: {
    action: 'allowed',
    gid: 1,
    signature_id: ++count,
    rev: 1,
    signature: `On ${ip}`,
    category: 'Test',
    severity: 1,
  },
});
const tls = (ip: string, port: number, name: string, more: object) => ({
  _path: 'ssl',
  ts: (start + hour) / 1000,
  uid: `S${++count}`,
  'id.orig_h': '10.200.0.1',
  'id.orig_p': 40_000,
  'id.resp_h': ip,
  'id.resp_p': port,
  version: 'TLSv12',
  established: true,
  server_name: name,
  ...more,
});
const eveTls = (ip: string, port: number, sni: string, more: object) => ({
  event_type: 'tls',
  timestamp: iso(start + hour),
  flow_id: ++count,
  src_ip: '10.200.0.1',
  src_port: 40_000,
  dest_ip: ip,
  dest_port: port,
  proto: 'TCP',
  tls: { sni, version: 'TLS 1.2', ...more },
});

async function send(...lines: object[]): Promise<void> {
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const headers = { 'content-type': 'application/x-ndjson' };
  const { body } = await service.call('ingest', 'POST /api/v1/ingest', { token, text, headers });
  expect(body).toMatchObject({ data: { rejected: 0 } });
}
async function assetsOf(network: string): Promise<{ id: string; attributes: Asset }[]> {
  const { body } = await service.call('listAssets', `GET /api/v1/assets?per_page=1000&ip=${network}`, {
    token,
  });
  return (body as { data: { id: string; attributes: Asset }[] }).data;
}
const apart = async (network: string, hosts: number) =>
  vi.waitFor(async () => {
    const found = (await assetsOf(network)).map(({ attributes }) => attributes.ip_addresses);
    expect(found.map((ips) => ips.length)).toEqual(Array(hosts).fill(1));
  }, patienceMs);

beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
});
afterAll(() => service.close());

describe.each([
  ['Zeek', zeek],
  ['Suricata', eve],
] as const)('a MAC address in lines of %s', (sensor, line) => {
  const second = sensor === 'Zeek' ? 1 : 2;

  test.each([
    '00:00:5e:00:01:0a',
    '00:00:5e:00:02:0a',
    '00:00:0c:07:ac:01',
    '00:07:b4:00:01:01',
    '12:34:56:78:9a:bc',
    'fe:ff:ff:ff:ff:ff',
    'ee:ee:ee:ee:ee:ee',
  ])('%s joins no machines', async (mac) => {
    const third =
      Number.parseInt(mac.slice(-2), 16) ^ (second * 7) ^ mac.length ^ Number.parseInt(mac.slice(12, 14), 16);
    const at = (n: number) => `10.${10 + second}.${third}.${n}`;
    await send(line(at(1), mac, 0), line(at(2), mac, minute), line(at(1), mac, 2 * minute));
    await apart(`10.${10 + second}.${third}.0/24`, 2);
  });

  test('of a router joins none once it has forwarded for five within an hour', async () => {
    const mac = `00:1b:63:00:01:0${second}`;
    const at = (n: number) => `10.20.${second}.${n}`;
    // One is known before, without a MAC address.
    await send(zeek(at(5), undefined, 0), alertAt(at(5), minute));
    await apart(`${at(5)}`, 1);
    const [before] = await assetsOf(at(5));
    for (let n = 1; n <= 6; n++) await send(line(at(n), mac, 10 * minute + n * minute));
    await send(alertAt(at(5), 30 * minute), alertAt(at(2), 30 * minute));
    await apart(`10.20.${second}.0/24`, 6);
    const [after] = await assetsOf(at(5));
    expect(after?.id).toBe(before?.id);
    const { body } = await service.call('listAlerts', `GET /api/v1/alerts?dst_ip=10.20.${second}.0/24`, {
      token,
    });
    const alerts = (body as { data: { attributes: Alert }[] }).data.map(({ attributes }) => attributes);
    for (const { dst_ip, asset_ids } of alerts)
      expect(asset_ids).toEqual((await assetsOf(dst_ip!)).map(({ id }) => id));
    expect(alerts.length).toBe(3);
  });

  test('of a router joins none once machines that seldom speak were found out', async () => {
    const mac = `00:1b:63:00:02:0${second}`;
    const lines = Array.from({ length: 18 }, (_, n) =>
      line(`10.21.${second}.${n + 1}`, mac, n * 75 * minute),
    );
    for (const one of lines) await send(one);
    await apart(`10.21.${second}.0/24`, 18);
  });

  test('of a machine keeps it one while its address changes', async () => {
    const mac = `00:1b:63:00:03:0${second}`;
    for (let n = 0; n < 4; n++) await send(line(`10.22.${second}.${n + 1}`, mac, n * 6 * hour));
    await vi.waitFor(async () => {
      const found = await assetsOf(`10.22.${second}.0/24`);
      expect(found.map(({ attributes }) => attributes.mac_addresses)).toEqual([[mac]]);
      expect(found[0]?.attributes.ip_addresses.length).toBe(4);
    }, patienceMs);
  });
});

describe('the name that a client asks for', () => {
  const cases: readonly (readonly [what: string, line: (ip: string) => object, named: boolean])[] = [
    ['names no server by itself', (ip) => tls(ip, 443, 'bank.example', {}), false],
    [
      'names the server whose certificate has it (Zeek)',
      (ip) => tls(ip, 443, 'srv.corp.example', { sni_matches_cert: true }),
      true,
    ],
    [
      'names the server whose subject has it (Zeek)',
      (ip) => tls(ip, 443, 'srv.corp.example', { subject: 'CN=srv.corp.example,O=Corp' }),
      true,
    ],
    [
      'names no server with another subject',
      (ip) => tls(ip, 443, 'bank.example', { subject: 'CN=srv.corp.example,O=bank.example' }),
      false,
    ],
    ['names no proxy', (ip) => tls(ip, 3128, 'bank.example', { sni_matches_cert: true }), false],
    ['names no server by itself (Suricata)', (ip) => eveTls(ip, 443, 'bank.example', {}), false],
    [
      'names the server whose subject has it (Suricata)',
      (ip) => eveTls(ip, 443, 'srv.corp.example', { subject: 'C=DE, CN=*.corp.example' }),
      true,
    ],
    [
      'names the server whose alternative name it is',
      (ip) => eveTls(ip, 443, 'srv.corp.example', { subjectaltname: ['x.example', 'srv.corp.example'] }),
      true,
    ],
    [
      'names no proxy (Suricata)',
      (ip) => eveTls(ip, 8080, 'bank.example', { subject: 'CN=bank.example' }),
      false,
    ],
  ];

  test.each(cases)('%s', async (_, line, named) => {
    const ip = `10.30.0.${cases.findIndex(([what]) => what === _) + 1}`;
    await send(zeek(ip, undefined, 0), line(ip));
    await vi.waitFor(async () => {
      const [asset] = await assetsOf(ip);
      expect(asset?.attributes.hostnames).toEqual(named ? ['srv.corp.example'] : []);
    }, patienceMs);
  });
});
