/** Machines behind one MAC address stay separate, and no single client can name a server. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import type { Asset } from '../../src/contract/resources/asset.ts';
import { adminOf, openService, type Service } from './service.ts';

/** Timeout that suffices on a busy machine. */
const patienceMs = 10_000;
let service: Service;
let token: string;
const minute = 60_000;
const hour = 60 * minute;
const start = Date.now() - 5 * 24 * hour;
const iso = (ms: number) => new Date(ms).toISOString().replace('Z', '000+0000');
let count = 0;

const zeek = (ip: string, mac: string | undefined, atMs: number, durationMs = 0) => ({
  _path: 'conn',
  ts: (start + atMs) / 1000,
  uid: `C${++count}`,
  'id.orig_h': ip.includes(':') ? 'fd00:200::1' : '10.200.0.1',
  'id.orig_p': 40_000,
  'id.resp_h': ip,
  'id.resp_p': 443,
  proto: 'tcp',
  duration: durationMs / 1000,
  conn_state: 'SF',
  history: 'ShADadFf',
  orig_pkts: 5,
  resp_pkts: 5,
  ...(mac === undefined ? {} : { resp_l2_addr: mac }),
});
const eve = (ip: string, mac: string | undefined, atMs: number, durationMs = 0) => ({
  event_type: 'flow',
  timestamp: iso(start + atMs + durationMs),
  flow_id: ++count,
  src_ip: ip.includes(':') ? 'fd00:200::1' : '10.200.0.1',
  src_port: 40_000,
  dest_ip: ip,
  dest_port: 443,
  proto: 'TCP',
  tcp: { tcp_flags: '1b', tcp_flags_ts: '1b', tcp_flags_tc: '1b' },
  ...(mac === undefined ? {} : { ether: { dest_macs: [mac] } }),
  flow: {
    pkts_toserver: 5,
    pkts_toclient: 5,
    start: iso(start + atMs),
    end: iso(start + atMs + durationMs),
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
const assetOf = async (ip: string) => {
  const [asset] = await assetsOf(ip);
  if (asset === undefined) throw new Error(`no asset has ${ip}`);
  return asset;
};
const together = async (ips: readonly string[]) =>
  vi.waitFor(async () => {
    const ids = await Promise.all(ips.map(async (ip) => (await assetOf(ip)).id));
    expect(new Set(ids).size).toBe(1);
    return ids[0]!;
  }, 60_000);
async function alertsBy(query: string): Promise<Alert[]> {
  const { body } = await service.call('listAlerts', `GET /api/v1/alerts?${query}`, { token });
  return (body as { data: { attributes: Alert }[] }).data.map(({ attributes }) => attributes);
}
async function merge(from: string, into: string): Promise<void> {
  const path = `POST /api/v1/assets/${from}/merge` as const;
  expect(await service.call('mergeAsset', path, { token, json: { into } })).toMatchObject({ status: 200 });
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
] as const)('a MAC address in %s lines', (sensor, line) => {
  const second = sensor === 'Zeek' ? 1 : 2;

  test.each([
    '00:00:5e:00:01:0a',
    '00:00:5e:00:02:0a',
    '00:00:0c:07:ac:01',
    '00:07:b4:00:01:01',
    '12:34:56:78:9a:bc',
    'fe:ff:ff:ff:ff:ff',
    'ee:ee:ee:ee:ee:ee',
  ])('of a virtual router, or locally administered (%s), does not merge assets', async (mac) => {
    const third =
      Number.parseInt(mac.slice(-2), 16) ^ (second * 7) ^ mac.length ^ Number.parseInt(mac.slice(12, 14), 16);
    const at = (n: number) => `10.${10 + second}.${third}.${n}`;
    await send(line(at(1), mac, 0), line(at(2), mac, minute), line(at(1), mac, 2 * minute));
    await apart(`10.${10 + second}.${third}.0/24`, 2);
  });

  test('does not merge assets if its router forwarded packets of six machines within an hour', async () => {
    const mac = `00:1b:63:00:01:0${second}`;
    const at = (n: number) => `10.20.${second}.${n}`;
    // One machine is already known, without a MAC address.
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

  test('does not merge assets once rarely active machines behind its router were detected', async () => {
    const mac = `00:1b:63:00:02:0${second}`;
    const lines = Array.from({ length: 18 }, (_, n) => line(`10.21.${second}.${n + 1}`, mac, n * 75 * minute));
    for (const one of lines) await send(one);
    await apart(`10.21.${second}.0/24`, 18);
  });

  test("keeps a machine one asset while the machine's address changes", async () => {
    const mac = `00:1b:63:00:03:0${second}`;
    for (let n = 0; n < 4; n++) await send(line(`10.22.${second}.${n + 1}`, mac, n * 6 * hour));
    await vi.waitFor(async () => {
      const found = await assetsOf(`10.22.${second}.0/24`);
      expect(found.map(({ attributes }) => attributes.mac_addresses)).toEqual([[mac]]);
      expect(found[0]?.attributes.ip_addresses.length).toBe(4);
    }, patienceMs);
  });
});

describe.each([
  ['Zeek', zeek, 1],
  ['Suricata', eve, 2],
] as const)('machines behind an unknown router in %s lines', (_, line, second) => {
  const place = (test: number) => {
    const mac = `00:1b:63:01:${test.toString(16).padStart(2, '0')}:0${second}`;
    return {
      mac,
      network: `10.${40 + test}.${second}.0/24`,
      at: (n: number) => `10.${40 + test}.${second}.${n}`,
    };
  };

  test('are separated once both machines are active, with their alerts and services', async () => {
    const { mac, network, at } = place(0);
    const [a, b] = [at(1), at(2)];
    await send(line(a, mac, 0), line(b, mac, minute), alertAt(b, 90_000));
    const joined = await together([a, b]);
    await vi.waitFor(async () => {
      expect(await alertsBy(`dst_ip=${b}`)).toMatchObject([{ asset_ids: [joined] }]);
      expect((await assetOf(a)).attributes).toMatchObject({ open_alerts: 1, service_count: 2 });
    }, 60_000);
    await send(line(a, mac, 2 * minute));
    await apart(network, 2);
    const [assetA, assetB] = [await assetOf(a), await assetOf(b)];
    expect(assetA.id).toBe(joined);
    expect(await alertsBy(`asset_id=${assetA.id}`)).toEqual([]);
    expect(await alertsBy(`asset_id=${assetB.id}`)).toMatchObject([{ dst_ip: b, asset_ids: [assetB.id] }]);
    await vi.waitFor(async () => {
      const counts = { risk_score: 0, open_alerts: 0, service_count: 1, mac_addresses: [] };
      expect((await assetOf(a)).attributes).toMatchObject(counts);
      expect((await assetOf(b)).attributes).toMatchObject({ open_alerts: 1, service_count: 1 });
    }, 60_000);
    expect((await assetOf(b)).attributes.first_seen).toBe(new Date(start + minute).toISOString());
    const { body } = await service.call('listAssetHistory', `GET /api/v1/assets/${joined}/history`, {
      token,
    });
    const actions = (body as { data: { attributes: { action: string; ip_address?: string } }[] }).data;
    expect(actions.map(({ attributes }) => [attributes.action, attributes.ip_address])).toContainEqual([
      'address_left',
      b,
    ]);
    await send(line(at(3), mac, 3 * minute), line(b, mac, 3 * minute));
    await apart(network, 3);
  });

  test('are separated if all their connections are in one request', async () => {
    const { mac, network, at } = place(1);
    await send(line(at(1), mac, 0), line(at(2), mac, minute), line(at(1), mac, 2 * minute));
    await apart(network, 2);
  });

  test('are separated if there are four machines', async () => {
    const { mac, network, at } = place(2);
    for (let n = 0; n < 8; n++) await send(line(at((n % 4) + 1), mac, n * 5 * minute));
    await apart(network, 4);
  });

  test('get back the history from before their separation', async () => {
    const { mac, network, at } = place(3);
    const [a, b] = [at(1), at(2)];
    await send(line(a, mac, 0));
    await send(line(b, mac, minute), alertAt(b, 90_000));
    await together([a, b]);
    await send(line(b, `02:1b:63:00:03:0${second}`, 10 * minute));
    await apart(network, 2);
    await send(line(at(3), mac, 11 * minute), line(a, mac, 12 * minute), line(at(3), mac, 13 * minute));
    await apart(network, 3);
    await vi.waitFor(async () => {
      expect(await alertsBy(`dst_ip=${b}`)).toMatchObject([{ asset_ids: [(await assetOf(b)).id] }]);
    }, 60_000);
  });

  test('are not confused with one machine whose address changes', async () => {
    const { mac, at } = place(4);
    // The peers of the former address keep sending to it for a while.
    await send(line(at(1), mac, 0), line(at(1), mac, minute, 15 * minute));
    await send(line(at(2), mac, 2 * minute), line(at(2), mac, 14 * minute));
    await send(line(at(2), mac, 20 * minute), line(at(3), mac, 21 * minute));
    const id = await together([at(1), at(2), at(3)]);
    // The machine is back on its former network, hours later.
    await send(line(at(1), mac, 6 * hour));
    expect(await together([at(1), at(2), at(3)])).toBe(id);
    expect((await assetOf(at(1))).attributes.mac_addresses).toEqual([mac]);
  });

  test('are not confused with one machine that has addresses of both IP versions', async () => {
    const { mac, at } = place(5);
    const prefix = `fd00:${second}:5:0`;
    const own = [at(1), `${prefix}:21b:63ff:fe01:501`, `${prefix}:5c1f::1`, `${prefix}:99::2`, `fd01:${second}::5`];
    for (let n = 0; n < 3; n++) await send(...own.map((ip, i) => line(ip, mac, n * minute + i)));
    await together(own);
    expect((await assetOf(at(1))).attributes.mac_addresses).toEqual([mac]);
  });

  test('are not confused with assets that users merged before or after the MAC address was seen', async () => {
    const { mac, network, at } = place(6);
    const [a, b, c] = [at(1), at(2), at(3)];
    await send(line(a, undefined, 0), line(b, undefined, 0));
    await apart(network, 2);
    await merge((await assetOf(b)).id, (await assetOf(a)).id);
    const round = (at: number, ...ips: string[]) =>
      [0, 1, 2].flatMap((n) => ips.map((ip, i) => line(ip, mac, at + (ips.length * n + i) * minute)));
    await send(...round(minute, a, b));
    const id = await together([a, b]);
    await vi.waitFor(async () => expect((await assetOf(a)).attributes.mac_addresses).toEqual([mac]), 60_000);
    await send(...round(10 * minute, a, b, c));
    await vi.waitFor(async () => expect((await assetOf(c)).id).not.toBe(id), 60_000);
    expect(await together([a, b])).toBe(id);
    // Two addresses of one server look like two machines until users merge them.
    await merge((await assetOf(c)).id, id);
    await send(...round(20 * minute, a, b, c));
    await send(...round(30 * minute, a, b, c));
    expect(await together([a, b, c])).toBe(id);
  });
});

describe('the name that a client requests', () => {
  const cases: readonly (readonly [what: string, line: (ip: string) => object, named: boolean])[] = [
    ['names no server without other evidence', (ip) => tls(ip, 443, 'bank.example', {}), false],
    [
      'names the server whose certificate contains the name (Zeek)',
      (ip) => tls(ip, 443, 'srv.corp.example', { sni_matches_cert: true }),
      true,
    ],
    [
      'names the server whose subject contains the name (Zeek)',
      (ip) => tls(ip, 443, 'srv.corp.example', { subject: 'CN=srv.corp.example,O=Corp' }),
      true,
    ],
    [
      'names no server with another subject',
      (ip) => tls(ip, 443, 'bank.example', { subject: 'CN=srv.corp.example,O=bank.example' }),
      false,
    ],
    ['names no proxy', (ip) => tls(ip, 3128, 'bank.example', { sni_matches_cert: true }), false],
    ['names no server without other evidence (Suricata)', (ip) => eveTls(ip, 443, 'bank.example', {}), false],
    [
      'names the server whose subject contains the name (Suricata)',
      (ip) => eveTls(ip, 443, 'srv.corp.example', { subject: 'C=DE, CN=*.corp.example' }),
      true,
    ],
    [
      'names the server with this alternative name',
      (ip) => eveTls(ip, 443, 'srv.corp.example', { subjectaltname: ['x.example', 'srv.corp.example'] }),
      true,
    ],
    ['names no proxy (Suricata)', (ip) => eveTls(ip, 8080, 'bank.example', { subject: 'CN=bank.example' }), false],
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

const zeekDns = (query: string, ip: string, client: string, mdns?: boolean) => ({
  _path: 'dns',
  ts: (start + hour) / 1000,
  uid: `D${++count}`,
  'id.orig_h': client,
  'id.orig_p': mdns ? 5353 : 40_000,
  'id.resp_h': mdns ? '224.0.0.251' : '10.200.0.53',
  'id.resp_p': mdns ? 5353 : 53,
  proto: 'udp',
  query,
  qtype_name: 'A',
  rcode: 0,
  rcode_name: 'NOERROR',
  answers: [ip],
});
const eveDns = (query: string, ip: string, client: string, mdns?: boolean) => ({
  event_type: 'dns',
  timestamp: iso(start + hour),
  flow_id: ++count,
  src_ip: client,
  src_port: mdns ? 5353 : 40_000,
  dest_ip: mdns ? '224.0.0.251' : '10.200.0.53',
  dest_port: mdns ? 5353 : 53,
  proto: 'UDP',
  dns: {
    version: 2,
    type: 'answer',
    id: count,
    rrname: query,
    rrtype: 'A',
    rcode: 'NOERROR',
    answers: [{ rrname: query, rrtype: 'A', ttl: 60, rdata: ip }],
  },
});
const http = {
  Zeek: (ip: string, host: string, more: object = {}) => ({
    _path: 'http',
    ts: (start + hour) / 1000,
    uid: `H${++count}`,
    'id.orig_h': '10.200.0.1',
    'id.orig_p': 40_000,
    'id.resp_h': ip,
    'id.resp_p': 80,
    method: 'GET',
    host,
    uri: '/',
    status_code: 200,
    ...more,
  }),
  Suricata: (ip: string, hostname: string, more: object = {}) => ({
    event_type: 'http',
    timestamp: iso(start + hour),
    flow_id: ++count,
    src_ip: '10.200.0.1',
    src_port: 40_000,
    dest_ip: ip,
    dest_port: 80,
    proto: 'TCP',
    http: { hostname, url: '/', http_method: 'GET', status: 200, ...more },
  }),
};

describe.each([
  ['Zeek', zeekDns, 1],
  ['Suricata', eveDns, 2],
] as const)('the names of a server in %s lines', (sensor, dns, second) => {
  const at = (n: number) => `10.31.${second}.${n}`;
  const hostnamesOf = async (ip: string) => (await assetOf(ip)).attributes.hostnames;

  test('exclude names that a client put into a request', async () => {
    await send(zeek(at(1), undefined, 0), http[sensor](at(1), 'bank.example'), dns('a.lan', at(1), at(9)));
    await vi.waitFor(async () => expect(await hostnamesOf(at(1))).toEqual(['a.lan']), 60_000);
  });

  const handshake = (ip: string, name: string) =>
    sensor === 'Zeek'
      ? tls(ip, 3129, name, { sni_matches_cert: true })
      : eveTls(ip, 3129, name, { subject: `CN=${name}` });
  const connect = (ip: string, status: number) =>
    http[sensor](
      ip,
      'bank.example',
      sensor === 'Zeek' ? { method: 'CONNECT', status_code: status } : { http_method: 'CONNECT', status },
    );

  test('exclude names of tunnelled servers once the server opened a tunnel (CONNECT), at any port', async () => {
    const [proxy, server] = [at(5), at(6)];
    for (const [ip, status] of [
      [proxy, 200],
      [server, 405],
    ] as const)
      await send(zeek(ip, undefined, 0), handshake(ip, 'bank.example'), dns('p.lan', ip, at(9)), connect(ip, status));
    await vi.waitFor(async () => expect(await hostnamesOf(server)).toEqual(['p.lan', 'bank.example']), 60_000);
    await vi.waitFor(async () => expect(await hostnamesOf(proxy)).toEqual(['p.lan']), 60_000);
    await send(handshake(proxy, 'shop.example'), dns('q.lan', proxy, at(9)));
    await vi.waitFor(async () => expect(await hostnamesOf(proxy)).toEqual(['p.lan', 'q.lan']), 60_000);
  });

  test('exclude names in certificates only if the names are of more domains than one server may have', async () => {
    const [proxy, server] = [at(7), at(8)];
    const sites = ['bank.example', 'www.shop.test', 'mail.post.invalid', 'news.co.uk', 'a.b.org'];
    await send(zeek(server, undefined, 0), ...sites.slice(0, 4).map((site) => handshake(server, site)));
    await send(handshake(server, 'www.bank.example'), zeek(proxy, undefined, 0), dns('r.lan', proxy, at(9)));
    await send(...sites.map((site) => handshake(proxy, site)));
    await vi.waitFor(async () => expect(await hostnamesOf(server)).toHaveLength(5), 60_000);
    await vi.waitFor(async () => expect(await hostnamesOf(proxy)).toEqual(['r.lan']), 60_000);
  });

  test('begin with the names that several hosts use, whatever names one host invents before and after', async () => {
    const invent = (from: number) => Array.from({ length: 40 }, (_, n) => dns(`forged${from + n}.lan`, at(2), at(66)));
    await send(zeek(at(2), undefined, 0), ...invent(0));
    await send(...[7, 8, 9].flatMap((n) => [dns('files.lan', at(2), at(n)), dns('www.lan', at(2), at(n))]));
    for (const from of [100, 200]) await send(...invent(from));
    await send(dns('last.lan', at(3), at(9)), zeek(at(3), undefined, 0));
    await vi.waitFor(async () => {
      const names = await hostnamesOf(at(2));
      expect(names.length).toBe(16);
      expect(names.slice(0, 2)).toEqual(['files.lan', 'www.lan']);
      expect((await assetOf(at(2))).attributes.name).toBe('files.lan');
    }, 60_000);
  });

  test('are the names that the server announces itself, not names that other hosts announce for it', async () => {
    await send(zeek(at(4), undefined, 0), dns('bank.local', at(4), at(66), true));
    await send(dns('printer.local', at(4), at(4), true));
    await vi.waitFor(async () => expect(await hostnamesOf(at(4))).toEqual(['printer.local']), 60_000);
  });
});
