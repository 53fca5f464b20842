/**
 * The machines and services of real networks, compared with a list made directly from the files: hosts that
 * answered are present, and thousands of scanners are absent.
 */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import type { Asset } from '../../src/contract/resources/asset.ts';
import type { Service as Offer } from '../../src/contract/resources/service.ts';
import { inFormat, type SensorFormat } from '../http/eve-lines.ts';
import { type Item, list, listAll, send } from './call.ts';
import { inBodies } from './counted.ts';
import { hasSharedData, sharedLines } from './shared-data.ts';

interface Conn {
  readonly ts: number;
  readonly uid: string;
  readonly 'id.orig_h': string;
  readonly 'id.resp_h': string;
  readonly 'id.resp_p': number;
  readonly proto: string;
  readonly conn_state: string;
  readonly history?: string;
  readonly orig_pkts: number;
  readonly resp_pkts: number;
}

/** Timeout that suffices on a busy machine. */
const busyMs = 180_000;

type Run = readonly [format: SensorFormat, perBody: number];

const sets = [
  {
    name: 'zeek-lan',
    conn: 'zeek-lan/m57.conn.ndjson.gz',
    dns: 'zeek-lan/m57.dns.ndjson.gz',
    env: {},
    isHome: (ip: string) => /^(10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\./.test(ip) || /^f[cde]/.test(ip),
    hosts: ['192.168.1.1', '192.168.1.102', '192.168.1.103', '192.168.1.104', '192.168.1.105'],
    runs: [
      ['Zeek', 20_000],
      ['Suricata', 3_000],
      ['Zeek', 500],
    ] satisfies Run[],
  },
  {
    name: 'zeek-internet-host',
    conn: 'zeek-internet-host/missing_host.conn.ndjson.gz',
    dns: 'zeek-internet-host/missing_host.dns.ndjson.gz',
    env: { CANDOR_NETWORK_HOME: '64.225.56.201/32' },
    isHome: (ip: string) => ip === '64.225.56.201',
    hosts: ['64.225.56.201'],
    runs: [['Zeek', 20_000]] satisfies Run[],
  },
];
const runs = sets.flatMap((set) => set.runs.map(([format, perBody]) => ({ ...set, format, perBody })));

/**
 * Returns whether a connection was answered. For TCP: Zeek's states with a completed handshake, unless the history has
 * neither SYN-ACK nor data of the responder. For other protocols: both sides sent packets.
 */
const answered = ({ proto, conn_state, history = 'h', orig_pkts, resp_pkts }: Conn) =>
  proto === 'tcp'
    ? ['S1', 'SF', 'S2', 'S3', 'RSTO', 'RSTR'].includes(conn_state) && /[hd]/.test(history)
    : orig_pkts > 0 && resp_pkts > 0;

const keyOf = (ip: string, transport: string, port: number) => `${ip} ${port}/${transport}`;

const title = '$name, lines of $format in bodies of $perBody';
describe.skipIf(!hasSharedData).each(runs)(title, ({ conn, dns, env, isHome, hosts, format, perBody }) => {
  let service: Service;
  let viewer: string;
  const records: Conn[] = [];
  let assets: (Item & { attributes: Asset })[];

  beforeAll(async () => {
    service = await startService({ env });
    viewer = await tokenFor(service, 'viewer');
    const sensor = await tokenFor(service, 'sensor');
    for (const file of [conn, dns]) {
      const lines = sharedLines(file);
      if (file === conn) records.push(...lines.map((line) => JSON.parse(line) as Conn));
      for (const text of inBodies(lines.map(inFormat[format]), perBody)) {
        const body = gzipSync(text);
        const counts = await send(service, sensor, body, { headers: { 'content-encoding': 'gzip' } });
        expect(counts.rejected).toBe(0);
      }
    }
    assets = (await listAll(service, 'listAssets', viewer, 'sort=ip')) as typeof assets;
  }, busyMs);
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  test('the assets are the home hosts that answered', () => {
    const seen = new Set<string>();
    for (const record of records.filter(answered)) {
      if (isHome(record['id.resp_h'])) seen.add(record['id.resp_h']);
      if (record.proto === 'tcp' && isHome(record['id.orig_h'])) seen.add(record['id.orig_h']);
    }
    expect([...seen].toSorted()).toEqual(hosts);
    expect(assets.flatMap(({ attributes }) => attributes.ip_addresses).toSorted()).toEqual(hosts);
    for (const { attributes } of assets)
      expect(attributes).toMatchObject({ state: 'staged', source: 'passive', kind: 'unknown' });
  });

  test('the services are the answered ports of the assets, and count each connection once, with their clients', async () => {
    const wanted = new Map<string, { uids: Set<string>; clients: Set<string>; first: number }>();
    for (const record of records) {
      const { 'id.resp_h': ip, 'id.resp_p': port, proto, uid, ts } = record;
      if (!isHome(ip) || !answered(record) || port === 0 || proto.includes('icmp')) continue;
      const key = keyOf(ip, proto, port);
      const one = wanted.get(key) ?? { uids: new Set(), clients: new Set(), first: ts };
      one.uids.add(uid);
      one.clients.add(record['id.orig_h']);
      wanted.set(key, { ...one, first: Math.min(one.first, ts) });
    }
    const shown = (rows: readonly (readonly [string, number, number])[]) => rows.map((row) => row.join(' ')).toSorted();
    const placeOf = ({ ip, port, transport }: Offer) => keyOf(ip, transport, port);
    const expected = Array.from(
      wanted,
      ([key, { uids, first }]) => [key, uids.size, Math.floor(first * 1000 + 1e-6)] as const,
    );
    // After a burst, the last rows are written with a delay.
    const found = await vi.waitFor(async () => {
      const all = (await listAll(service, 'listServices', viewer)) as (Item & { attributes: Offer })[];
      const rows = all.map(
        ({ attributes: one }) => [placeOf(one), one.connections, Date.parse(one.first_seen)] as const,
      );
      expect(shown(rows)).toEqual(shown(expected));
      return all;
    }, 60_000);
    assets = (await listAll(service, 'listAssets', viewer, 'sort=ip')) as typeof assets;
    for (const { attributes: one } of found) {
      const { size } = wanted.get(placeOf(one))!.clients;
      // The count is exact up to 4,096, then estimated by a sketch with a standard error of 1.6 %.
      if (size <= 4096) expect(one.clients).toBe(size);
      else expect(Math.abs(one.clients / size - 1)).toBeLessThan(0.08);
    }
    const byAsset = new Map(assets.map(({ id, attributes }) => [id, attributes]));
    for (const { attributes: offer } of found) expect(byAsset.get(offer.asset_id)?.ip_addresses).toContain(offer.ip);
    for (const { id, attributes } of assets)
      expect(attributes.service_count).toBe(found.filter((one) => one.attributes.asset_id === id).length);
  });

  test('events name the assets of their addresses, and the filter asset_id finds as many events as the file has', async () => {
    for (const { id, attributes } of assets) {
      const { ip_addresses } = attributes;
      const isSrc = (record: Conn) => ip_addresses.includes(record['id.orig_h']);
      const isDst = (record: Conn) => ip_addresses.includes(record['id.resp_h']);
      const total = async (query: string) =>
        (await list(service, 'listNetworkEvents', viewer, `per_page=1&${query}`)).pagination.total;
      expect(await total(`src_asset_id=${id}`)).toBe(records.filter(isSrc).length);
      expect(await total(`dst_asset_id=${id}`)).toBe(records.filter(isDst).length);
      expect(await total(`asset_id=${id}`)).toBe(records.filter((one) => isSrc(one) || isDst(one)).length);
      const { data } = await list(service, 'listNetworkEvents', viewer, `asset_id=${id}&per_page=1000`);
      for (const { attributes: event } of data) {
        const ends = [event.src_ip, event.dst_ip].map((ip) => ip_addresses.includes(ip as string));
        expect([event.src_asset_id === id, event.dst_asset_id === id]).toEqual(ends);
      }
    }
  });
});
