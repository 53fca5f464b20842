/** Subscriptions by asset follow an address that moves, live and replayed, and a merge. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { type Live, openLive } from '../../src/client/live.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';
import type { DnsEvent } from '../../src/contract/resources/dns-event.ts';
import type { NetworkEvent } from '../../src/contract/resources/network-event.ts';

const start = Date.parse('2026-03-01T00:00:00Z');
const macs = ['00:1b:63:00:00:01', '00:1b:63:00:00:02', '00:1b:63:00:00:03'] as const;
let service: Service;
let admin: Client;
let live: Live;
let sensor: Client;

beforeAll(async () => {
  service = await startService();
  const token = await login(service);
  admin = createClient({ baseUrl: service.url, token });
  live = openLive({
    baseUrl: service.url,
    token: async () => ({ token, expiresAt: Number.POSITIVE_INFINITY }),
    onState: () => undefined,
  });
  sensor = createClient({ baseUrl: service.url, token: await tokenFor(service, 'sensor') });
});
afterAll(async () => {
  live.close();
  expect(await service.stop()).toBe(0);
});

/** Events are numbered by their source port, and a minute apart. */
const conn = (n: number, mac: string) => ({
  ts: (start + n * 60_000) / 1000,
  uid: `C${n}`,
  'id.orig_h': '192.168.9.20',
  'id.orig_p': n,
  'id.resp_h': '192.168.9.10',
  'id.resp_p': 443,
  proto: 'tcp',
  conn_state: 'SF',
  orig_pkts: 3,
  resp_pkts: 3,
  orig_l2_addr: macs[2],
  resp_l2_addr: mac,
});
const dns = (n: number) => ({
  ts: (start + n * 60_000) / 1000,
  uid: `D${n}`,
  'id.orig_h': '192.168.9.10',
  'id.orig_p': n,
  'id.resp_h': '192.168.9.20',
  'id.resp_p': 53,
  proto: 'udp',
  query: 'www.example.org',
  qtype_name: 'A',
  rcode: 0,
  rcode_name: 'NOERROR',
});
const alert = (n: number) => ({
  timestamp: new Date(start + n * 60_000).toISOString().replace('Z', '000+0000'),
  event_type: 'alert',
  src_ip: '203.0.113.9',
  src_port: n,
  dest_ip: '192.168.9.10',
  dest_port: 443,
  proto: 'TCP',
  alert: {
    action: 'allowed',
    gid: 1,
    signature_id: n,
    rev: 1,
    signature: `R${n}`,
    category: 'T',
    severity: 2,
  },
});
const send = async (...records: unknown[]) => {
  const answer = await sensor.ingest(records.map((record) => JSON.stringify(record)).join('\n'));
  expect(answer).toMatchObject({ accepted: records.length, rejected: 0 });
};
const assetOf = async (mac: string) => {
  const listed = async () => (await admin.call('listAssets', { query: { mac } })).data;
  await expect.poll(listed, { timeout: 60_000 }).toHaveLength(1);
  return (await listed())[0]!.id;
};

interface Seen {
  readonly network: NetworkEvent[];
  readonly dns: DnsEvent[];
  readonly alerts: Alert[];
}
/** Subscribes to all three channels of one asset. */
async function follow(asset_id: string, since?: number): Promise<Seen> {
  const seen: Seen = { network: [], dns: [], alerts: [] };
  const filters = { asset_id };
  const options = since === undefined ? {} : { since };
  const subscribed = (subscribe: (onSubscribed: () => void) => unknown) =>
    new Promise<void>((resolve) => void subscribe(resolve));
  await Promise.all([
    subscribed((onSubscribed) =>
      live.subscribe(
        'events.network',
        filters,
        { onSubscribed, onEvent: ({ data }) => seen.network.push(data.attributes) },
        options,
      ),
    ),
    subscribed((onSubscribed) =>
      live.subscribe(
        'events.dns',
        filters,
        { onSubscribed, onEvent: ({ data }) => seen.dns.push(data.attributes) },
        options,
      ),
    ),
    subscribed((onSubscribed) =>
      live.subscribe(
        'alerts',
        filters,
        { onSubscribed, onEvent: ({ data }) => seen.alerts.push(data.attributes) },
        options,
      ),
    ),
  ]);
  return seen;
}

const portsIn = (events: readonly { src_port?: number }[]) => events.map(({ src_port }) => src_port);
const until = (seen: readonly unknown[], count: number) =>
  expect.poll(() => seen.length, { timeout: 60_000 }).toBe(count);

test('live events and alerts go to subscribers of the asset that had the address at the time', async () => {
  await send(conn(1, macs[0]));
  const before = await assetOf(macs[0]);
  const byBefore = await follow(before);
  await send(conn(2, macs[0]), dns(2), alert(2));
  await until(byBefore.dns, 1);
  await until(byBefore.alerts, 1);

  // The address moves: within one batch, earlier events belong to the old machine and later ones to the new
  // one. Alerts do not wait for the move to be processed.
  await send(conn(11, macs[1]), conn(12, macs[1]), dns(12), dns(3));
  const after = await assetOf(macs[1]);
  const byAfter = await follow(after);
  await send(conn(13, macs[1]), dns(13), dns(4), alert(13));
  await until(byAfter.alerts, 1);
  await until(byAfter.dns, 1);
  await until(byAfter.network, 2);
  expect(portsIn(byAfter.network)).toEqual([13, 13]);
  expect(byAfter.network.map((event) => event.dst_asset_id)).toEqual([after, after]);
  expect(byAfter.dns).toMatchObject([{ src_port: 13, src_asset_id: after }]);
  expect(byAfter.alerts).toMatchObject([{ title: 'R13', asset_ids: [after] }]);

  await until(byBefore.dns, 3);
  expect(portsIn(byBefore.dns)).toEqual([2, 3, 4]);
  expect(portsIn(byBefore.network)).toEqual([2, 2]);
  expect(byBefore.alerts).toMatchObject([{ title: 'R2', asset_ids: [before] }]);

  // A replay from the beginning has the items of the lists, in order of arrival.
  const replayed = await follow(before, 0);
  await until(replayed.network, 3);
  await until(replayed.dns, 3);
  await until(replayed.alerts, 1);
  expect([portsIn(replayed.network), portsIn(replayed.dns)]).toEqual([
    [1, 2, 2],
    [2, 3, 4],
  ]);

  // After the merge, subscribers of the remaining asset receive the events of both assets, live and replayed.
  await admin.call('mergeAsset', { params: { asset_id: before }, body: { into: after } });
  await send(dns(5), dns(14));
  await until(byAfter.dns, 3);
  expect(portsIn(byAfter.dns)).toEqual([13, 5, 14]);
  const all = await follow(after, 0);
  await until(all.dns, 7);
  await until(all.network, 7);
  expect(new Set(all.network.map(({ dst_asset_id }) => dst_asset_id))).toEqual(new Set([after]));
  expect(portsIn(byBefore.dns)).toEqual([2, 3, 4]);
});
