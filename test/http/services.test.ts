import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import type { Asset } from '../../src/contract/resources/asset.ts';
import type { NetworkEvent } from '../../src/contract/resources/network-event.ts';
import type { Service as Offer } from '../../src/contract/resources/service.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let token: string;
const start = Date.parse('2026-02-01T00:00:00Z');
const hour = 3_600_000;
const macs = { old: '00:1b:63:00:00:0a', new: '00:1b:63:00:00:0b', web: '00:1b:63:00:00:0c' };

interface Item<A> {
  readonly id: string;
  readonly attributes: A;
}
const paths = {
  listAssets: '/api/v1/assets',
  listServices: '/api/v1/services',
  listNetworkEvents: '/api/v1/events/network',
  listDnsEvents: '/api/v1/events/dns',
  listAlerts: '/api/v1/alerts',
} as const;

const call = (operation: OperationId, target: string, json?: unknown) =>
  service.call(operation, target, { token, ...(json === undefined ? {} : { json }) });

async function list<A>(operation: keyof typeof paths, query: string): Promise<Item<A>[]> {
  const { status, body } = await call(operation, `GET ${paths[operation]}?${query}`);
  expect([query, status]).toEqual([query, 200]);
  const { data, pagination } = body as { data: Item<A>[]; pagination: { total: number } };
  expect(pagination.total).toBe(data.length);
  return data;
}
const assetAt = async (query: string) => {
  const found = await list<Asset>('listAssets', query);
  expect([query, found.length]).toEqual([query, 1]);
  return found[0]!;
};
const portsOf = async (query: string) =>
  (await list<NetworkEvent>('listNetworkEvents', `sort=timestamp&${query}`)).map(
    ({ attributes }) => attributes.src_port,
  );

/** Returns an answered connection, `n` hours after the start; its source port is `n`. */
const conn = (n: number, more: Record<string, unknown> = {}) => ({
  ts: (start + n * hour) / 1000,
  uid: `C${n}`,
  'id.orig_h': '192.168.7.20',
  'id.orig_p': n,
  'id.resp_h': '192.168.7.10',
  'id.resp_p': 22,
  proto: 'tcp',
  service: 'ssh',
  conn_state: 'SF',
  orig_pkts: 5,
  resp_pkts: 5,
  ...more,
});
const alertLine = (n: number) => ({
  timestamp: new Date(start + n * hour).toISOString().replace('Z', '000+0000'),
  event_type: 'alert',
  src_ip: '203.0.113.9',
  src_port: 1234,
  dest_ip: '192.168.7.10',
  dest_port: 22,
  proto: 'TCP',
  alert: {
    action: 'allowed',
    gid: 1,
    signature_id: 5000 + n,
    rev: 1,
    signature: `Rule ${n}`,
    category: 'Test',
    severity: 1,
  },
});
const dnsLine = (n: number) => ({
  ts: (start + n * hour) / 1000,
  uid: `D${n}`,
  'id.orig_h': '192.168.7.10',
  'id.orig_p': n,
  'id.resp_h': '192.168.7.20',
  'id.resp_p': 53,
  proto: 'udp',
  query: 'www.example.org',
  qtype_name: 'A',
  rcode: 0,
  rcode_name: 'NOERROR',
});

const send = async (...records: unknown[]) => {
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  const { status, body } = await service.call('ingest', 'POST /api/v1/ingest', { token, text, headers });
  expect([status, body]).toMatchObject([200, { data: { rejected: 0, accepted: records.length } }]);
};

beforeAll(async () => {
  service = await openService();
  const json = { username: 'admin', password };
  const { body } = await service.call('login', 'POST /auth/login', { json });
  token = (body as { access_token: string }).access_token;
  await send(
    conn(1, { resp_l2_addr: macs.old }),
    conn(2, { resp_l2_addr: macs.old, 'id.orig_h': '192.168.7.21' }),
    // The connection is reported again, as Zeek does for long connections.
    conn(2, { resp_l2_addr: macs.old, 'id.orig_h': '192.168.7.21' }),
    dnsLine(2),
    alertLine(2),
  );
  // From now on, another machine has the address.
  await send(
    conn(10, { resp_l2_addr: macs.new }),
    conn(11, { resp_l2_addr: macs.new, 'id.resp_p': 443, service: 'ssl' }),
    dnsLine(11),
    alertLine(11),
    conn(12, { 'id.resp_h': '192.168.7.30', resp_l2_addr: macs.web, 'id.resp_p': 80, service: 'http' }),
    // Without an answer, there is no asset and no service.
    conn(13, { 'id.resp_h': '192.168.7.99', conn_state: 'S0', resp_pkts: 0 }),
    conn(14, { 'id.orig_h': '203.0.113.50', 'id.resp_p': 25, conn_state: 'REJ', service: undefined }),
  );
});
afterAll(() => service.close());

describe('services', () => {
  test('are listed if they answered, with their properties', async () => {
    const { id } = await assetAt('ip=192.168.7.30');
    const [web] = await list<Offer>('listServices', `asset_id=${id}`);
    expect(web?.attributes).toEqual({
      asset_id: id,
      ip: '192.168.7.30',
      port: 80,
      transport: 'tcp',
      name: 'http',
      state: 'open',
      source: 'passive',
      connections: 1,
      clients: 1,
      first_seen: new Date(start + 12 * hour).toISOString(),
      last_seen: new Date(start + 12 * hour).toISOString(),
    });
    const one = await call('getService', `GET /api/v1/services/${web!.id.toUpperCase()}`);
    expect(one.body).toMatchObject({ data: { ...web, type: 'service' } });
    const ofAsset = await call('listAssetServices', `GET /api/v1/services/asset/${id}`);
    expect((ofAsset.body as { data: unknown }).data).toEqual([{ ...web, type: 'service' }]);
    expect((await assetAt('ip=192.168.7.30')).attributes.service_count).toBe(1);
    expect(await list('listServices', 'ip=192.168.7.99')).toEqual([]);
    expect(await list('listServices', 'port=25')).toEqual([]);
  });

  test('count each connection once, even if reported repeatedly, and each client once', async () => {
    const { id } = await assetAt(`mac=${macs.old}`);
    const [ssh] = await list<Offer>('listServices', `asset_id=${id}&port=22`);
    expect(ssh?.attributes).toMatchObject({ connections: 2, clients: 2, name: 'ssh' });
  });

  test.each([
    ['port=443', [443]],
    ['port=22', [22, 22]],
    ['port=80&port=443', [80, 443]],
    ['name=http', [80]],
    ['ip=192.168.7.30', [80]],
    ['ip=192.168.7.0/28', [22, 22, 443]],
    ['transport=udp', []],
    ['transport=tcp&state=open&source=passive', [22, 80, 443]],
    // The service at the address before the address moved.
    ['state=closed', [22]],
    ['connections=2', [22]],
    ['q=htt', [80]],
    [`from=${start + 10 * hour}&to=${start + 12 * hour}`, [22, 443]],
  ] as const)('are found by %s', async (query, ports) => {
    const found = await list<Offer>('listServices', `sort=port&${query}`);
    expect(found.map(({ attributes }) => attributes.port).toSorted((a, b) => a - b)).toEqual(ports);
  });

  test.each(['service_id', 'asset_id'])('with an invalid id are rejected, and the error names %s', async (field) => {
    const isService = field === 'service_id';
    const answer = isService
      ? await call('getService', 'GET /api/v1/services/22')
      : await call('listServices', 'GET /api/v1/services?asset_id=22');
    expect([answer.status, answer.body]).toMatchObject([400, { error: { details: { field } } }]);
  });

  test('are not found if the service or the asset is unknown', async () => {
    const absent = '018f0000-0000-7000-8000-000000000001';
    expect((await call('getService', `GET /api/v1/services/${absent}`)).status).toBe(404);
    expect((await call('listAssetServices', `GET /api/v1/services/asset/${absent}`)).status).toBe(404);
    expect(await list('listServices', `asset_id=${absent}`)).toEqual([]);
  });
});

describe('an address that moves to another machine', () => {
  let before: Item<Asset>;
  let after: Item<Asset>;
  beforeAll(async () => {
    before = await assetAt(`mac=${macs.old}`);
    after = await assetAt(`mac=${macs.new}`);
  });

  test('leaves the old asset and is assigned to the new one', async () => {
    expect(before.id).not.toBe(after.id);
    expect(before.attributes).toMatchObject({ ip_addresses: [], mac_addresses: [macs.old] });
    expect(after.attributes).toMatchObject({ ip_addresses: ['192.168.7.10'], state: 'staged' });
    expect((await assetAt('ip=192.168.7.10')).id).toBe(after.id);
    const target = `/api/v1/assets/${before.id}/history`;
    const { body } = await call('listAssetHistory', `GET ${target}`);
    const records = (body as { data: Item<unknown>[] }).data.map(({ attributes }) => attributes);
    expect(records).toContainEqual(
      expect.objectContaining({
        action: 'address_left',
        ip_address: '192.168.7.10',
        by: expect.objectContaining({ kind: 'network' }),
      }),
    );
  });

  test('leaves each asset its events, in both directions, and its alerts', async () => {
    expect(await portsOf(`asset_id=${before.id}`)).toEqual([1, 2, 2, 1234]);
    expect(await portsOf(`dst_asset_id=${before.id}`)).toEqual([1, 2, 2, 1234]);
    expect(await portsOf(`src_asset_id=${before.id}`)).toEqual([]);
    expect(await portsOf(`asset_id=${after.id.toUpperCase()}`)).toEqual([10, 11, 1234, 14]);
    expect(await portsOf(`asset_id=${before.id}&asset_id=${after.id}`)).toEqual([1, 2, 2, 1234, 10, 11, 1234, 14]);
    expect(await portsOf(`asset_id=${before.id}&dst_ip=192.168.7.30`)).toEqual([]);
    const dns = async (query: string) =>
      (await list<{ src_port: number }>('listDnsEvents', query)).map(({ attributes }) => attributes.src_port);
    expect(await dns(`src_asset_id=${before.id}`)).toEqual([2]);
    expect(await dns(`asset_id=${after.id}`)).toEqual([11]);
    const alerts = async (id: string) =>
      (await list<Alert>('listAlerts', `asset_id=${id}`)).map(({ attributes }) => attributes);
    expect(await alerts(before.id)).toMatchObject([{ title: 'Rule 2', asset_ids: [before.id] }]);
    expect(await alerts(after.id)).toMatchObject([{ title: 'Rule 11', asset_ids: [after.id] }]);
    expect([before, after].map(({ attributes }) => attributes.open_alerts)).toEqual([1, 1]);
  });

  test('has the same assets in single events and alerts as in lists', async () => {
    for (const one of await list<NetworkEvent>('listNetworkEvents', 'sort=timestamp')) {
      const got = await call('getNetworkEvent', `GET ${paths.listNetworkEvents}/${one.id}`);
      expect(got.body).toMatchObject({ data: one });
      const { src_asset_id, dst_asset_id, dst_ip, timestamp } = one.attributes;
      if (dst_ip === '192.168.7.10')
        expect(dst_asset_id).toBe(Date.parse(timestamp) < start + 10 * hour ? before.id : after.id);
      for (const [field, id] of Object.entries({ src_asset_id, dst_asset_id }))
        if (id !== undefined)
          expect((await list('listNetworkEvents', `${field}=${id}`)).map((item) => item.id)).toContain(one.id);
    }
    const [alert] = await list<Alert>('listAlerts', `asset_id=${after.id}`);
    const got = await call('getAlert', `GET ${paths.listAlerts}/${alert!.id}`);
    expect(got.body).toMatchObject({ data: { attributes: { asset_ids: [after.id] } } });
    const changed = await call('updateAlert', `PUT ${paths.listAlerts}/${alert!.id}`, { assignee: 'admin' });
    expect(changed.body).toMatchObject({ data: { attributes: { asset_ids: [after.id] } } });
  });

  test('has all its events, alerts and services on the remaining asset after both assets are merged', async () => {
    const { status } = await call('mergeAsset', `POST /api/v1/assets/${before.id}/merge`, { into: after.id });
    expect(status).toBe(200);
    expect(await portsOf(`asset_id=${before.id}`)).toEqual([]);
    expect(await portsOf(`asset_id=${after.id}`)).toEqual([1, 2, 2, 1234, 10, 11, 1234, 14]);
    const events = await list<NetworkEvent>('listNetworkEvents', 'dst_ip=192.168.7.10');
    expect(new Set(events.map(({ attributes }) => attributes.dst_asset_id))).toEqual(new Set([after.id]));
    const alerts = await list<Alert>('listAlerts', `asset_id=${after.id}`);
    expect(alerts.map(({ attributes }) => attributes.asset_ids)).toEqual([[after.id], [after.id]]);
    const offers = await list<Offer>('listServices', `asset_id=${after.id}&sort=port`);
    expect(offers.map(({ attributes: { port, connections } }) => [port, connections])).toEqual([
      [22, 3],
      [443, 1],
    ]);
    const merged = await call('getAsset', `GET /api/v1/assets/${after.id}`);
    expect(merged.body).toMatchObject({
      data: { attributes: { open_alerts: 2, service_count: 2, mac_addresses: [macs.new, macs.old] } },
    });
  });

  test('does not count an alert as open on its asset once the alert is resolved', async () => {
    const [alert] = await list<Alert>('listAlerts', `asset_id=${after.id}`);
    await call('updateAlert', `PUT ${paths.listAlerts}/${alert!.id}`, { status: 'resolved' });
    expect((await assetAt('ip=192.168.7.10')).attributes.open_alerts).toBe(1);
  });

  test('has neither services nor events after its asset is deleted, and gets a new asset with later activity', async () => {
    expect((await call('deleteAsset', `DELETE /api/v1/assets/${after.id}`)).status).toBe(204);
    expect(await portsOf(`asset_id=${after.id}`)).toEqual([]);
    expect(await list('listServices', 'ip=192.168.7.10')).toEqual([]);
    const [event] = await list<NetworkEvent>('listNetworkEvents', 'src_port=10');
    expect(event?.attributes).not.toHaveProperty('dst_asset_id');
    await send(conn(20, { resp_l2_addr: macs.new }));
    const found = await assetAt('ip=192.168.7.10');
    expect(found.id).not.toBe(after.id);
    expect(await portsOf(`asset_id=${found.id}`)).toContain(20);
  });
});
