import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/database/lmdb.ts';
import type { Sighting } from '../../../src/inventory/model/sighting.ts';
import { limits } from '../../../src/limits.ts';
import { inspectStore } from '../../../src/store/inspect.ts';
import { openTables } from '../../../src/store/tables.ts';
import { analyst, batchOf, everything, type Opened, opened, start } from '../../store/opened.ts';
import { assetsOf, historyOf, holder, inbound, macA, macB, sight } from './sightings.ts';

const v4 = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
const v6 = (n: number) => `2001:db8::${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}`;

/** Commits these sightings in batches, and waits until the inventory has processed them. */
async function sightAll(open: Opened, sightings: readonly Sighting[]): Promise<void> {
  for (let i = 0; i < sightings.length; i += 500) await sight(open, sightings.slice(i, i + 500));
  const { inventoryTold } = tablesOf(open);
  await expect.poll(() => inventoryTold.getKeysCount(), { timeout: 60_000 }).toBe(0);
}

/** Opens the tables of the file separately. */
function tablesOf({ dataDir }: Opened) {
  const root = openDatabase(join(dataDir, 'siem.mdb'), { readOnly: true, maxDbs: 64 });
  onTestFinished(() => root.close());
  return openTables(root);
}

const reached = async ({ store }: Opened) => (await store.status()).limits_reached;

describe('an inventory that receives forged data', () => {
  test('adds hosts up to the limit of assets, and counts further hosts', async () => {
    const { maxAssets } = limits;
    onTestFinished(() => void Object.assign(limits, { maxAssets }));
    Object.assign(limits, { maxAssets: maxAssets / 8 });
    const open = opened();
    const { store, reader } = open;
    const perBlock = limits.maxBlockRows;
    const blocks = Math.ceil(limits.maxAssets / perBlock) + 1;
    for (let b = 0; b < blocks; b++) {
      const hosts = Array.from({ length: perBlock }, (_, i) => ({
        dst_ip: v4(b * perBlock + i + 1),
        dst_port: undefined,
        timestamp: start + b,
      }));
      await store.commit(batchOf([], { blocks: [inbound(hosts)] }));
    }
    const told = async () => (await reached(open)).maxAssets;
    await expect.poll(told, { timeout: 60_000, interval: 250 }).toBe(blocks * perBlock - limits.maxAssets);
    expect(await store.status()).toMatchObject({ assets: limits.maxAssets });
    expect(await reached(open)).toMatchObject({ maxAssets: blocks * perBlock - limits.maxAssets });
    await expect(store.createAsset({ name: 'one more' }, analyst)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    // The rows are written within a second; a change by a user, such as this one, writes them immediately.
    const { total } = reader.listAssets({ ...everything, sort: 'ip', per_page: 1 });
    expect(total).toBe(limits.maxAssets);
    await store.commit(batchOf([], { blocks: [inbound([{ dst_ip: v4(1), timestamp: start + 60_000 }])] }));
    const [first] = JSON.parse(
      Buffer.from(reader.listAssets({ ...everything, sort: 'ip', per_page: 1 }).json).toString(),
    );
    expect(first.attributes).toMatchObject({
      name: v4(1),
      last_seen: new Date(start + 60_000).toISOString(),
    });
    await store.removeAsset(first.id);
    await store.createAsset({ name: 'one more' }, analyst);
  });

  test.each([
    ['in order', 1],
    ['in reverse order', -1],
  ])(
    'accepts MAC addresses of one IP address, with times %s, up to a limit, and no more for a day',
    async (_, step) => {
      const open = opened();
      const day = 86_400_000;
      open.clock.now = start + 10 * day;
      const macOf = (n: number) =>
        `00:1b:63:01:${(n >> 8).toString(16).padStart(2, '0')}:${(n & 255).toString(16).padStart(2, '0')}`;
      const frames = Array.from({ length: 2000 }, (_, n) => ({
        dst_ip: '10.0.0.1',
        dst_mac: macOf(n),
        timestamp: start + day + step * n,
      }));
      for (let i = 0; i < frames.length; i += 100)
        await open.store.commit(batchOf([], { blocks: [inbound(frames.slice(i, i + 100))] }));
      expect(assetsOf(open.reader)).toHaveLength(limits.maxMachinesPerAddress);
      expect((await reached(open)).maxMachinesPerAddress).toBe(2000 - limits.maxMachinesPerAddress);
      const { id } = holder(open.reader, '10.0.0.1');
      const later = (dst_ip: string, mac: string, timestamp: number) =>
        open.store.commit(batchOf([], { blocks: [inbound([{ dst_ip, dst_mac: mac, timestamp }])] }));
      await later('10.0.0.1', macA, start + 1.5 * day);
      expect(holder(open.reader, '10.0.0.1').id).toBe(id);
      await later('10.0.0.2', macB, start + 1.5 * day);
      expect(holder(open.reader, '10.0.0.2').mac_addresses).toEqual([macB]);
      await later('10.0.0.1', macA, start + 3 * day);
      expect(holder(open.reader, '10.0.0.1').mac_addresses).toEqual([macA]);
    },
  );

  test('treats a MAC address with hundreds of IPv4 addresses as a router in front of separate machines', async () => {
    const open = opened();
    const hosts = Array.from(
      { length: 600 },
      (_, n): Sighting => ({ kind: 'host', ip: v4(n + 1), mac: macA, at: start + n }),
    );
    await sightAll(open, hosts);
    const assets = assetsOf(open.reader);
    expect(assets).toHaveLength(600);
    expect(
      assets.every(({ ip_addresses, mac_addresses }) => ip_addresses.length === 1 && mac_addresses.length === 0),
    ).toBe(true);
  });

  test('keeps a laptop that had many addresses over months as one asset', async () => {
    const open = opened();
    open.clock.now = start + 100 * 86_400_000;
    const days = Array.from(
      { length: 100 },
      (_, n): Sighting => ({ kind: 'host', ip: v4(n + 1), mac: macA, at: start + n * 86_400_000 }),
    );
    await sightAll(open, days);
    expect(assetsOf(open.reader)).toMatchObject([{ mac_addresses: [macA] }]);
  });

  test('keeps IPv6 addresses of one MAC address up to the limits, and counts further addresses', async () => {
    const open = opened();
    const hosts = Array.from(
      { length: 10_000 },
      (_, n): Sighting => ({ kind: 'host', ip: v6(n + 1), mac: macA, at: start + n }),
    );
    await sightAll(open, hosts);
    const [asset, ...others] = assetsOf(open.reader);
    expect(others).toEqual([]);
    expect(asset!.ip_addresses).toHaveLength(limits.maxCurrentAddresses);
    expect(asset!.last_seen).toBe(new Date(start + 9999).toISOString());
    open.reader.assets.refresh();
    expect(open.reader.assets.ranges(asset!.id)).toHaveLength(limits.maxAddressesPerAsset);
    expect(await reached(open)).toEqual({
      maxCurrentAddresses: limits.maxAddressesPerAsset - limits.maxCurrentAddresses,
      maxAddressesPerAsset: 10_000 - limits.maxAddressesPerAsset,
      maxAssetHistory: expect.any(Number),
    });
    expect(historyOf(open.reader, asset!.id).length).toBeLessThanOrEqual(1.1 * limits.maxAssetHistory);
  });

  test('bounds the owners and the history of an address that flaps between two machines, and counts the excess', async () => {
    const open = opened();
    const { asset } = await open.store.createAsset({ name: 'kept', mac_addresses: [macA] }, analyst);
    const turns = Array.from(
      { length: 6000 },
      (_, n): Sighting => ({ kind: 'host', ip: '10.0.0.1', mac: n % 2 === 0 ? macA : macB, at: start + n }),
    );
    await sightAll(open, turns);
    expect(assetsOf(open.reader)).toHaveLength(2);
    expect(holder(open.reader, '10.0.0.1').mac_addresses).toEqual([macB]);
    const tables = tablesOf(open);
    expect(tables.assetBindings.getKeysCount()).toBeLessThanOrEqual(limits.maxBindingsPerAddress);
    expect(tables.assetHistory.getKeysCount()).toBeLessThanOrEqual(2.2 * limits.maxAssetHistory);
    expect(Object.keys(await reached(open))).toEqual(['maxBindingsPerAddress', 'maxAssetHistory']);
    // Users' changes stay.
    expect(historyOf(open.reader, asset.id)[0]).toMatchObject({
      action: 'created',
      by: { kind: 'principal' },
    });
    open.reader.assets.refresh();
    expect(open.reader.assets.at('10.0.0.1', start + 5998)).toBe(asset.id);
    expect(open.reader.assets.at('10.0.0.1', 0)).toBeDefined();
    await open.store.close();
    await inspectStore(open.dataDir, () => undefined);
  });

  test('keeps announced names of a host up to the limit, and counts further names', async () => {
    const open = opened();
    await sightAll(open, [{ kind: 'host', ip: '10.0.0.1', at: start }]);
    const names = Array.from(
      { length: 2000 },
      (_, n): Sighting => ({ kind: 'name', ip: '10.0.0.1', name: `n${n}`, from: 'mdns', at: start + n }),
    );
    await sightAll(open, names);
    const asset = holder(open.reader, '10.0.0.1');
    expect(asset.hostnames).toHaveLength(limits.maxHeardNames);
    expect(await reached(open)).toEqual({
      maxHeardNames: 2000 - limits.maxHeardNames,
      maxAssetHistory: expect.any(Number),
    });
    expect(historyOf(open.reader, asset.id).length).toBeLessThanOrEqual(1.1 * limits.maxAssetHistory);
  });
});
