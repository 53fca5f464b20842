import { describe, expect, test } from 'vitest';
import { Asset, AssetHistory } from '../../../src/contract/resources/asset.ts';
import { validate } from '../../../src/contract/validate.ts';
import { limits } from '../../../src/limits.ts';
import { openReader } from '../../../src/store/reader.ts';
import { openStore } from '../../../src/store/writer.ts';
import { analyst, batchOf, hour, opened, start } from '../../store/opened.ts';
import { assetsOf, historyOf, holder, inbound, macA, macB, minute, see, sight } from './sightings.ts';

const actions = (history: readonly AssetHistory[]) =>
  history.map(({ action, ip_address, mac_address, hostname }) =>
    [action, ip_address ?? mac_address ?? hostname].filter((part) => part !== undefined).join(' '),
  );

describe('the network inventory', () => {
  test('makes a host a staged asset, named by its address, with a history', async () => {
    const open = opened();
    await see(open, { ip: '10.0.0.1', at: start }, { ip: '10.0.0.1', at: start + minute });
    const [asset, ...others] = assetsOf(open.reader);
    expect(others).toEqual([]);
    expect(asset).toMatchObject({
      name: '10.0.0.1',
      kind: 'unknown',
      ip_addresses: ['10.0.0.1'],
      mac_addresses: [],
      hostnames: [],
      criticality: 'medium',
      tags: [],
      state: 'staged',
      source: 'passive',
      first_seen: new Date(start).toISOString(),
      last_seen: new Date(start + minute).toISOString(),
      risk_score: 0,
      risk_level: 'low',
      open_alerts: 0,
      service_count: 0,
      version: 1,
    });
    const history = historyOf(open.reader, asset!.id);
    expect(actions(history)).toEqual(['created', 'address_bound 10.0.0.1']);
    for (const record of history)
      expect(record).toMatchObject({
        asset_id: asset!.id,
        by: { kind: 'network' },
        at: new Date(start).toISOString(),
      });
    const { id, ...attributes } = asset!;
    expect(open.reader.getAsset(id)).toEqual(attributes);
    expect(open.reader.getAsset(id.toUpperCase())).toEqual(attributes);
    expect(open.reader.getAsset('nothing')).toBeUndefined();
  });

  test('accepts a host that was seen at time 0', async () => {
    const open = opened();
    const { store, reader } = open;
    const beginning = new Date(0).toISOString();
    await see(open, { ip: '10.0.0.1', at: 0 });
    const { id } = holder(reader, '10.0.0.1');
    expect(reader.getAsset(id)).toMatchObject({ first_seen: beginning, last_seen: beginning });
    await see(open, { ip: '10.0.0.1', at: start });
    const seen = { first_seen: beginning, last_seen: new Date(start).toISOString() };
    expect(reader.getAsset(id)).toMatchObject(seen);
    const { asset } = await store.createAsset({ name: 'never seen' }, analyst);
    expect(asset).not.toHaveProperty('first_seen');
    expect(asset).not.toHaveProperty('last_seen');
    const { asset: merged } = await store.mergeAssets(id, asset.id, analyst);
    expect(merged).toMatchObject(seen);
  });

  test('makes two assets, each with a history, from an address that moves between two MAC addresses', async () => {
    const open = opened();
    open.clock.now = start + 10 * hour;
    await see(open, { ip: '10.0.0.1', mac: macA, at: start }, { ip: '10.0.0.1', mac: macB, at: start + hour });
    const assets = assetsOf(open.reader);
    expect(assets.map(({ mac_addresses, ip_addresses }) => [mac_addresses, ip_addresses])).toEqual(
      expect.arrayContaining([
        [[macA], []],
        [[macB], ['10.0.0.1']],
      ]),
    );
    const first = assets.find(({ mac_addresses }) => mac_addresses.includes(macA))!;
    const second = holder(open.reader, '10.0.0.1');
    expect(actions(historyOf(open.reader, first.id))).toEqual([
      'created',
      'address_bound 10.0.0.1',
      `mac_bound ${macA}`,
      'address_left 10.0.0.1',
    ]);
    expect(historyOf(open.reader, first.id).at(-1)!.at).toBe(new Date(start + hour).toISOString());
    expect(first.version).toBe(1);
    const { assets: lookup } = open.reader;
    lookup.refresh();
    expect([0, start, start + hour - 1].map((time) => lookup.at('10.0.0.1', time))).toEqual([
      first.id,
      first.id,
      first.id,
    ]);
    expect([start + hour, start + 9 * hour].map((time) => lookup.at('10.0.0.1', time))).toEqual([second.id, second.id]);
    expect(lookup.ranges(first.id)).toEqual([{ ip: '10.0.0.1', from: Number.NEGATIVE_INFINITY, to: start + hour }]);
    expect(lookup.ranges(second.id)).toEqual([{ ip: '10.0.0.1', from: start + hour, to: Number.POSITIVE_INFINITY }]);
  });

  test('makes two assets from a moved address even within one block of events, in reverse order', async () => {
    const open = opened();
    await open.store.commit(
      batchOf([], {
        blocks: [
          inbound([
            { dst_ip: '10.0.0.1', dst_mac: macB, timestamp: start + minute },
            { dst_ip: '10.0.0.1', dst_mac: macA, timestamp: start },
          ]),
        ],
      }),
    );
    expect(holder(open.reader, '10.0.0.1').mac_addresses).toEqual([macB]);
    expect(assetsOf(open.reader)).toHaveLength(2);
  });

  test('keeps one asset for a machine that changes its address', async () => {
    const open = opened();
    await see(open, { ip: '10.0.0.1', mac: macA }, { ip: '10.0.0.2', mac: macA, at: start + hour });
    const [asset, ...others] = assetsOf(open.reader);
    expect(others).toEqual([]);
    expect(asset).toMatchObject({
      ip_addresses: ['10.0.0.1', '10.0.0.2'],
      mac_addresses: [macA],
      version: 1,
    });
    await see(open, { ip: '10.0.0.1', mac: macB, at: start + 2 * hour });
    expect(holder(open.reader, '10.0.0.2')).toMatchObject({ id: asset!.id, ip_addresses: ['10.0.0.2'] });
  });

  test('adds the MAC address to an asset that a user entered with only an IP address', async () => {
    const open = opened();
    const { asset } = await open.store.createAsset({ name: 'db', ip_addresses: ['10.0.0.1'] }, analyst);
    await see(open, { ip: '10.0.0.1', mac: macA }, { ip: '10.0.0.7', mac: macA, at: start + minute });
    expect(assetsOf(open.reader)).toMatchObject([
      {
        id: asset.id,
        name: 'db',
        source: 'manual',
        mac_addresses: [macA],
        ip_addresses: ['10.0.0.1', '10.0.0.7'],
      },
    ]);
  });

  test('ignores virtual, group and invalid MAC addresses', async () => {
    const open = opened();
    const useless = ['00:00:5e:00:01:01', '01:00:5e:00:00:01', 'ff:ff:ff:ff:ff:ff', '00:00:00:00:00:00'];
    await see(
      open,
      ...useless.flatMap((mac, i) => [
        { ip: `10.0.0.${i}`, mac },
        { ip: `10.0.1.${i}`, mac },
      ]),
    );
    expect(assetsOf(open.reader)).toHaveLength(8);
    expect(assetsOf(open.reader).every(({ mac_addresses }) => mac_addresses.length === 0)).toBe(true);
  });

  test('permanently treats a MAC address seen with three external addresses as a gateway', async () => {
    const open = opened();
    await see(
      open,
      { ip: '10.0.0.1', mac: macA },
      { ip: '10.0.0.2', mac: macA, at: start + 1 },
      { ip: '10.0.0.3', mac: macA, at: start + 2 },
    );
    expect(assetsOf(open.reader)).toHaveLength(1);
    const external = { src_mac: macA, dst_ip: '10.0.0.9', timestamp: start + minute };
    const from = (...hosts: number[]) =>
      batchOf([], { blocks: [inbound(hosts.map((n) => ({ ...external, src_ip: `198.51.100.${n}` })))] });
    await open.store.commit(from(7));
    await open.store.commit(from(7, 8));
    // Two external addresses are not enough evidence: they may be forged.
    expect(assetsOf(open.reader)).toHaveLength(2);
    await open.store.commit(from(9));
    const assets = assetsOf(open.reader);
    expect(assets.map(({ ip_addresses, mac_addresses }) => [...ip_addresses, ...mac_addresses])).toEqual([
      ['10.0.0.1'],
      ['10.0.0.2'],
      ['10.0.0.3'],
      ['10.0.0.9'],
    ]);
    const reasons = historyOf(open.reader, assets[0]!.id).filter(({ reason }) => reason !== undefined);
    expect(actions(reasons).sort()).toEqual(['address_left 10.0.0.2', 'address_left 10.0.0.3', `mac_released ${macA}`]);
    await see(open, { ip: '10.0.0.2', mac: macA, at: start + hour }, { ip: '10.0.0.4', mac: macA, at: start + hour });
    expect(assetsOf(open.reader)).toHaveLength(5);
  });

  test('moves services with the addresses that were attributed to a gateway', async () => {
    const open = opened();
    const block = inbound([
      { dst_ip: '10.0.0.1', dst_mac: macA, dst_port: 22 },
      { dst_ip: '10.0.0.2', dst_mac: macA, dst_port: 443, timestamp: start + 1 },
    ]);
    await open.store.commit(batchOf([], { blocks: [block] }));
    expect(assetsOf(open.reader)).toMatchObject([{ service_count: 2 }]);
    const external = { src_mac: macA, dst_ip: '10.0.0.9', dst_port: 80 };
    const three = [7, 8, 9].map((n) => ({ ...external, src_ip: `198.51.100.${n}` }));
    await open.store.commit(batchOf([], { blocks: [inbound(three)] }));
    expect(assetsOf(open.reader)).toMatchObject([{ service_count: 1 }, { service_count: 1 }, { service_count: 1 }]);
  });

  test('keeps a retired asset retired when it is seen again, and records the sighting once', async () => {
    const open = opened();
    await see(open, { ip: '10.0.0.1' });
    const { id } = holder(open.reader, '10.0.0.1');
    await open.store.changeAsset(id, { state: 'retired' }, analyst);
    open.clock.now = start + 2 * hour;
    await see(open, { ip: '10.0.0.1', at: start + hour });
    await see(open, { ip: '10.0.0.1', at: start + 2 * hour });
    expect(open.reader.getAsset(id)).toMatchObject({
      state: 'retired',
      last_seen: new Date(start + 2 * hour).toISOString(),
    });
    expect(actions(historyOf(open.reader, id)).filter((action) => action === 'seen_again')).toHaveLength(1);
  });

  test('sets the operating system, and names in order of trust; ignores invalid names', async () => {
    const open = opened();
    await see(open, { ip: '10.0.0.1', mac: macA });
    await sight(
      open,
      [
        { kind: 'name', ip: '10.0.0.1', name: 'www.example', from: 'tls', at: start },
        { kind: 'name', mac: macA, name: 'Laptop-7.', from: 'dhcp', at: start },
        { kind: 'name', ip: '10.0.0.1', name: 'evil\u202e', from: 'dhcp', at: start },
        { kind: 'name', ip: '10.0.0.99', name: 'nobody', from: 'dhcp', at: start },
        { kind: 'system', ip: '10.0.0.1', os: 'Linux\u0000 6' },
      ].map((sighting) => ({ at: start, ...sighting })) as Parameters<typeof sight>[1],
    );
    const asset = holder(open.reader, '10.0.0.1');
    expect(asset).toMatchObject({ name: 'laptop-7', hostnames: ['laptop-7', 'www.example'], os: 'Linux  6' });
    expect(assetsOf(open.reader)).toHaveLength(1);
    await open.store.changeAsset(asset.id, { name: 'Ana’s', hostnames: ['ana'], os: 'BeOS' }, analyst);
    await sight(open, [
      { kind: 'name', ip: '10.0.0.1', name: 'other', from: 'dhcp', at: start + hour },
      { kind: 'system', ip: '10.0.0.1', os: 'Windows', at: start + hour },
    ]);
    const after = holder(open.reader, '10.0.0.1');
    expect(after).toMatchObject({ name: 'Ana’s', hostnames: ['ana'], os: 'BeOS' });
  });

  test('makes an asset for a device known only by its MAC address', async () => {
    const open = opened();
    await sight(open, [{ kind: 'host', mac: macA, at: start }]);
    expect(assetsOf(open.reader)).toMatchObject([{ name: macA, mac_addresses: [macA], ip_addresses: [] }]);
    await see(open, { ip: '10.0.0.1', mac: macA, at: start + 1 });
    expect(assetsOf(open.reader)).toMatchObject([{ name: '10.0.0.1', mac_addresses: [macA] }]);
  });

  test('moves an address to another MAC address even after a sighting dated years ahead', async () => {
    const open = opened();
    await see(open, { ip: '10.0.0.1', mac: macA, at: Date.UTC(9999, 0) });
    await see(open, { ip: '10.0.0.1', mac: macB, at: start + limits.maxClockLeadMs + 1 });
    open.clock.now = start + hour;
    await see(open, { ip: '10.0.0.1', mac: macB, at: start + limits.maxClockLeadMs + 1 });
    expect(holder(open.reader, '10.0.0.1').mac_addresses).toEqual([macB]);
  });

  test('conforms to the contract, and is the same after a restart', async () => {
    const open = opened();
    await see(open, { ip: '10.0.0.1', mac: macA }, { ip: '10.0.0.2' }, { ip: '10.0.0.1', mac: macB, at: start + hour });

    const before = assetsOf(open.reader);
    for (const { id, ...attributes } of before) {
      validate(Asset, attributes);
      for (const record of historyOf(open.reader, id)) validate(AssetHistory, record);
    }
    await open.store.close();
    open.reader.close();
    const store = openStore({ dataDir: open.dataDir, alertWindowMs: hour });
    const reader = openReader(open.dataDir);
    expect(assetsOf(reader)).toEqual(before);
    reader.close();
    await store.close();
  });
});
