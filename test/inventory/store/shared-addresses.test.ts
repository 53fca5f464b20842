import { describe, expect, test } from 'vitest';
import type { AssetHistory } from '../../../src/contract/resources/asset.ts';
import type { Service } from '../../../src/contract/resources/service.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { DnsRecord } from '../../../src/events/records.ts';
import type { Sighting } from '../../../src/inventory/model/sighting.ts';
import type { StoreReader } from '../../../src/store/store.ts';
import { analyst, batchOf, everything, hour, opened, resources, start } from '../../store/opened.ts';
import { assetsOf, historyOf, holder, inbound, type Listed, macA, macB, see, sight } from './sightings.ts';

const actions = (history: readonly AssetHistory[]) =>
  history.map(({ at, action, ip_address, mac_address, hostname, other_asset_id }) =>
    [Date.parse(at) - start, action, ip_address ?? mac_address ?? hostname ?? (other_asset_id && 'other')]
      .filter((part) => part !== undefined)
      .join(' '),
  );

const servicesOf = (reader: StoreReader, { id }: Pick<Listed, 'id'>) =>
  resources<Service>(reader.listServices({ ...everything, sort: 'port' }))
    .filter(({ attributes }) => attributes.asset_id === id)
    .map(({ attributes: { ip, port, state, connections } }) => `${ip} ${port} ${state} ${connections}`);

const dnsAnswer = (query: string, address: string): DnsRecord => ({
  id: undefined,
  timestamp: start,
  src_ip: '10.0.0.9',
  src_port: 4711,
  dst_ip: '10.0.0.53',
  dst_port: 53,
  transport: 'udp',
  kind: 'transaction',
  transaction_id: 1,
  query,
  qtype: 'A',
  qclass: 'IN',
  rcode: 0,
  rcode_name: 'NOERROR',
  answers: JSON.stringify([{ type: 'A', data: address }]),
  authoritative: undefined,
  truncated: undefined,
  recursion_desired: undefined,
  recursion_available: undefined,
  rejected: undefined,
  rtt_ms: undefined,
  community_id: undefined,
  connection_id: undefined,
  sensor: undefined,
  source: 'zeek',
  severity: 'informational',
});

function later() {
  const open = opened();
  open.clock.now = start + 10 * hour;
  return open;
}

const ip = '10.0.0.1';
const from = (mac: string, at: number, more: object = {}) => ({
  dst_ip: ip,
  dst_mac: mac,
  timestamp: start + at,
  ...more,
});

describe('an address that moves to another machine and back', () => {
  test('within one request has three owners in sequence', async () => {
    const { store, reader } = later();
    const block = inbound([from(macA, 100), from(macA, 200), from(macB, 4000), from(macB, 4100), from(macA, 8000)]);
    await store.commit(batchOf([], { blocks: [block] }));
    const a = holder(reader, ip);
    const b = assetsOf(reader).find(({ id }) => id !== a.id)!;
    expect([a.mac_addresses, b.mac_addresses]).toEqual([[macA], [macB]]);
    const { assets } = reader;
    assets.refresh();
    const owners = [100, 3999, 4000, 7999, 8000].map((at) => assets.at(ip, start + at));
    expect(owners).toEqual([a.id, a.id, b.id, b.id, a.id]);
    expect(actions(historyOf(reader, b.id))).toEqual([
      '4000 created',
      `4000 address_bound ${ip}`,
      `4000 mac_bound ${macB}`,
      `8000 address_left ${ip}`,
    ]);
  });

  test('has services that are closed until they answer again', async () => {
    const { store, reader } = later();
    const commit = (...rows: object[]) =>
      store.commit(batchOf([], { blocks: [inbound(rows as Parameters<typeof inbound>[0])] }));
    await commit(from(macA, 100, { dst_port: 22 }), from(macA, 200, { dst_port: 80 }));
    const a = holder(reader, ip);
    expect(a.service_count).toBe(2);
    await commit(from(macB, 4000, { dst_port: 22 }));
    expect(servicesOf(reader, a)).toEqual([`${ip} 22 closed 1`, `${ip} 80 closed 1`]);
    expect(reader.getAsset(a.id)).toMatchObject({ service_count: 0 });
    expect(servicesOf(reader, holder(reader, ip))).toEqual([`${ip} 22 open 1`]);
    await commit(from(macA, 8000, { dst_port: 80 }));
    expect(servicesOf(reader, a)).toEqual([`${ip} 22 closed 1`, `${ip} 80 open 2`]);
    await store.changeAsset(a.id, { ip_addresses: [] }, analyst);
    expect(reader.getAsset(a.id)).toMatchObject({ service_count: 0 });
  });
});

test('the history of a host is in order of time, even if parts of a request report it in another order', async () => {
  for (const [at, expected] of [
    [0, [`0 created`, `0 address_bound ${ip}`, `0 mac_bound ${macA}`, '0 hostname_added box']],
    [3000, [`1000 created`, `1000 address_bound ${ip}`, `3000 mac_bound ${macA}`, '3000 hostname_added box']],
  ] as const) {
    const { store, reader } = later();
    const host = { ip, mac: macA, at: start + at };
    const sightings: Sighting[] = [
      { kind: 'name', ...host, name: 'box', from: 'dhcp' },
      { kind: 'host', ...host },
    ];
    const rows = [{ dst_ip: ip, timestamp: start + 1000, duration_ms: 5000 }];
    await store.commit(batchOf([], { blocks: [inbound(rows)], sightings }));
    expect(actions(historyOf(reader, holder(reader, ip).id))).toEqual(expected);
  }
});

test('names in the same request as their host are assigned to the host, in any part of the request', async () => {
  const { store, reader, clock } = opened({ home: ['10.0.0.0/8'] });
  clock.now = start + hour;
  const builder = new BlockBuilder('dns', start);
  builder.add(dnsAnswer('box.lan', ip));
  const sightings: Sighting[] = [
    { kind: 'name', ip, name: 'lap', from: 'dhcp', at: start },
    { kind: 'host', ip, at: start },
  ];
  await store.commit(batchOf([], { blocks: [builder.finish()], sightings }));
  expect(holder(reader, ip).hostnames).toEqual(['lap', 'box.lan']);
});

test('network evidence does not change the version', async () => {
  const open = later();
  await see(open, { ip, at: start });
  const { id } = holder(open.reader, ip);
  await open.store.changeAsset(id, { owner: 'me' }, analyst, 1);
  await see(open, { ip, mac: macA, at: start + 1 }, { ip: '10.0.0.2', mac: macA, at: start + 2 });
  await sight(open, [{ kind: 'name', ip, name: 'box', from: 'dns', at: start + 3 }]);
  await sight(open, [{ kind: 'system', ip, os: 'Linux', at: start + 3 }]);
  expect(open.reader.getAsset(id)).toMatchObject({ version: 2, hostnames: ['box'], os: 'Linux' });
  await open.store.changeAsset(id, { owner: 'you' }, analyst, 2);
  expect(open.reader.getAsset(id)).toMatchObject({ version: 3 });
});

test('evidence from before an asset was retired does not record that the asset is back', async () => {
  const open = later();
  await see(open, { ip, at: start });
  const { id } = holder(open.reader, ip);
  await open.store.changeAsset(id, { state: 'retired' }, analyst);
  const seenAgain = () => historyOf(open.reader, id).filter(({ action }) => action === 'seen_again').length;
  await see(open, { ip, at: start + 9 * hour });
  expect(seenAgain()).toBe(0);
  open.clock.now = start + 12 * hour;
  await see(open, { ip, at: start + 11 * hour });
  expect(seenAgain()).toBe(1);
});

describe('a device known by its MAC address', () => {
  const device = async () => {
    const open = later();
    await sight(open, [
      { kind: 'host', mac: macA, at: start },
      { kind: 'name', mac: macA, name: 'printer', from: 'dhcp', at: start },
    ]);
    return open;
  };

  test('is an asset without an address until the device is seen with an address', async () => {
    const open = await device();
    const [asset] = assetsOf(open.reader);
    expect(asset).toMatchObject({
      name: 'printer',
      ip_addresses: [],
      mac_addresses: [macA],
      state: 'staged',
      version: 1,
    });
    await see(open, { ip, mac: macA, at: start + 5 });
    expect(assetsOf(open.reader)).toMatchObject([{ id: asset!.id, ip_addresses: [ip], name: 'printer' }]);
  });

  test('is merged into the machine that is later seen with the same MAC address', async () => {
    const open = await device();
    await see(open, { ip, at: start + 5 });
    expect(assetsOf(open.reader)).toHaveLength(2);
    const { id } = holder(open.reader, ip);
    await see(open, { ip, mac: macA, at: start + 6 });
    expect(assetsOf(open.reader)).toMatchObject([
      {
        id,
        name: 'printer',
        ip_addresses: [ip],
        mac_addresses: [macA],
        first_seen: new Date(start).toISOString(),
      },
    ]);
    expect(actions(historyOf(open.reader, id)).at(-1)).toBe('6 merged other');
  });
});

describe('a split', () => {
  test('separates a merged asset by MAC address', async () => {
    const open = later();
    const { store, reader } = open;
    const rows = [
      from(macA, 100, { dst_port: 22 }),
      from(macB, 4000, { dst_port: 80 }),
      from(macB, 5000, { dst_ip: '10.0.0.2', dst_port: 443 }),
      from(macA, 8000, { dst_port: 22 }),
    ];
    await store.commit(batchOf([], { blocks: [inbound(rows)] }));
    await sight(open, [
      { kind: 'name', mac: macA, name: 'a', from: 'dhcp', at: start + 8001 },
      { kind: 'name', mac: macB, name: 'b', from: 'dhcp', at: start + 8001 },
    ]);
    const [a, b] = [holder(reader, ip), holder(reader, '10.0.0.2')];
    await store.mergeAssets(b.id, a.id, analyst);
    const { asset: split } = await store.splitAsset(a.id, [macB], analyst);
    const { assets } = reader;
    assets.refresh();
    const owners = [100, 4000, 8000].map((at) => assets.at(ip, start + at));
    expect(owners).toEqual([a.id, split.id, a.id]);
    expect(split).toMatchObject({
      ip_addresses: ['10.0.0.2'],
      mac_addresses: [macB],
      hostnames: ['b'],
      first_seen: b.first_seen,
      last_seen: b.last_seen,
    });
    expect(reader.getAsset(a.id)).toMatchObject({
      ip_addresses: [ip],
      mac_addresses: [macA],
      hostnames: ['a'],
    });
    expect(servicesOf(reader, split)).toEqual(['10.0.0.2 443 open 1']);
    await see(open, { ip: '10.0.0.2', mac: macB, at: start + 9000 }, { ip, mac: macA, at: start + 9000 });
    expect(holder(reader, '10.0.0.2').id).toBe(split.id);
    expect(holder(reader, ip).id).toBe(a.id);
  });

  test('by IP address has the times at which the address was seen', async () => {
    const open = later();
    await see(open, { ip, mac: macA, at: start }, { ip: '10.0.0.2', mac: macA, at: start + hour });
    await see(open, { ip, mac: macA, at: start + 2 * hour });
    const { asset } = await open.store.splitAsset(holder(open.reader, ip).id, ['10.0.0.2'], analyst);
    const at = new Date(start + hour).toISOString();
    expect(asset).toMatchObject({ first_seen: at, last_seen: at });
  });
});

test('an attribute that a user empties is set by network evidence again', async () => {
  const open = later();
  const { store, reader } = open;
  await see(open, { ip, at: start });
  const { id } = holder(reader, ip);
  await sight(open, [{ kind: 'name', ip, name: 'box', from: 'dns', at: start }]);
  await store.changeAsset(id, { os: 'BeOS', hostnames: ['mine'] }, analyst);
  await sight(open, [{ kind: 'system', ip, os: 'Linux', at: start + 1 }]);
  expect(reader.getAsset(id)).toMatchObject({ os: 'BeOS', hostnames: ['mine'] });
  await store.changeAsset(id, { os: '', hostnames: [] }, analyst);
  expect(reader.getAsset(id)).toMatchObject({ hostnames: ['box'] });
  expect(reader.getAsset(id)).not.toHaveProperty('os');
  await sight(open, [{ kind: 'system', ip, os: 'Linux', at: start + 2 }]);
  expect(reader.getAsset(id)).toMatchObject({ os: 'Linux' });
  expect(await store.changeAsset(id, { os: '', hostnames: [] }, analyst)).toMatchObject({ unchanged: true });
});
