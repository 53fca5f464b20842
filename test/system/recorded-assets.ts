/**
 * The machines and services of a recorded network, compared with a list made directly from the files: hosts that
 * answered are present, and thousands of scanners are absent.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Asset } from '../../src/contract/resources/asset.ts';
import type { Service as Offer } from '../../src/contract/resources/service.ts';
import { type Item, list, listAll } from './call.ts';
import type { Conn, RecordedNetwork, SentNetwork } from './recorded-networks.ts';

/**
 * Returns whether a connection was answered. For TCP: Zeek's states with a completed handshake, unless the history has
 * neither SYN-ACK nor data of the responder. For other protocols: both sides sent packets.
 */
const answered = ({ proto, conn_state, history = 'h', orig_pkts, resp_pkts }: Conn) =>
  proto === 'tcp'
    ? ['S1', 'SF', 'S2', 'S3', 'RSTO', 'RSTR'].includes(conn_state) && /[hd]/.test(history)
    : orig_pkts > 0 && resp_pkts > 0;

const keyOf = (ip: string, transport: string, port: number) => `${ip} ${port}/${transport}`;

/** @param sent - returns the network, once it was sent */
export function describeAssets({ isHome, hosts }: RecordedNetwork, sent: () => SentNetwork): void {
  describe('assets and services', () => {
    let assets: (Item & { attributes: Asset })[];
    const read = async () => {
      const { service, viewer } = sent();
      assets = (await listAll(service, 'listAssets', viewer, 'sort=ip')) as typeof assets;
    };
    beforeAll(read);

    test('the assets are the home hosts that answered', () => {
      const { records } = sent();
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
      const { service, viewer, records } = sent();
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
      const shown = (rows: readonly (readonly [string, number, number])[]) =>
        rows.map((row) => row.join(' ')).toSorted();
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
      await read();
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
      const { service, viewer, records } = sent();
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
}
