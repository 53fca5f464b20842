import { describe, expect, test } from 'vitest';
import { canonicalUuid } from '../../../src/uuid.ts';
import { analyst, batchOf, hour, opened, start } from '../../store/opened.ts';
import { assetsOf, historyOf, holder, inbound, macA, macB, see, sight } from './sightings.ts';

const unknown = '01900000-0000-7000-8000-000000000000';
const names = (of: string, count: number) => Array.from({ length: count }, (_, i) => `${of}${i}`);
const by = { kind: 'principal', id: analyst.id, name: analyst.name };

describe('an asset that a user enters', () => {
  test('has the source manual, the state managed, and the user in its history', async () => {
    const { store, reader } = opened();
    const { asset } = await store.createAsset(
      {
        name: 'Mail',
        kind: 'server',
        ip_addresses: ['10.0.0.5', '2001:db8::5'],
        mac_addresses: [macA],
        hostnames: ['mail.example'],
        os: 'Debian 13',
        vendor: '',
        criticality: 'high',
        owner: 'ops',
        tags: ['dmz', 'a\nb'],
        notes: 'n',
      },
      analyst,
    );
    const { id, ...attributes } = asset;
    expect(canonicalUuid(id)).toBe(id);
    expect(attributes).toEqual({
      name: 'Mail',
      kind: 'server',
      ip_addresses: ['10.0.0.5', '2001:db8::5'],
      mac_addresses: [macA],
      hostnames: ['mail.example'],
      os: 'Debian 13',
      criticality: 'high',
      owner: 'ops',
      tags: ['dmz', 'a\nb'],
      notes: 'n',
      state: 'managed',
      source: 'manual',
      risk_score: 0,
      risk_level: 'low',
      open_alerts: 0,
      service_count: 0,
      version: 1,
    });
    expect(reader.getAsset(id)).toEqual(attributes);
    const history = historyOf(reader, id);
    expect(history.map(({ action }) => action)).toEqual(['created', 'mac_bound', 'address_bound', 'address_bound']);
    for (const record of history) expect(record).toMatchObject({ by, at: new Date(start).toISOString() });
    reader.assets.refresh();
    expect(reader.assets.at('10.0.0.5', 0)).toBe(id);
  });

  test('gets a default name from its attributes', async () => {
    const { store } = opened();
    expect((await store.createAsset({ mac_addresses: [macA], hostnames: ['h.example'] }, analyst)).asset.name).toBe(
      'h.example',
    );
    expect((await store.createAsset({ mac_addresses: [macB] }, analyst)).asset.name).toBe(macB);
    const { asset } = await store.createAsset({ name: 'x', state: 'staged' }, analyst);
    expect(asset).toMatchObject({ name: 'x', state: 'staged' });
  });

  test('is rejected if another asset currently has one of its addresses', async () => {
    const open = opened();
    const { store, reader } = open;
    await see(open, { ip: '10.0.0.1', mac: macA });
    const { id } = holder(reader, '10.0.0.1');
    await expect(store.createAsset({ ip_addresses: ['10.0.0.2', '10.0.0.1'] }, analyst)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { field: 'ip_addresses.1', asset_id: id },
    });
    await expect(store.createAsset({ mac_addresses: [macA] }, analyst)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { field: 'mac_addresses.0', asset_id: id },
    });
    expect(assetsOf(reader)).toHaveLength(1);
    await store.changeAsset(id, { ip_addresses: [], mac_addresses: [] }, analyst);
    const { asset } = await store.createAsset({ ip_addresses: ['10.0.0.1'], mac_addresses: [macA] }, analyst);
    expect(holder(reader, '10.0.0.1').id).toBe(asset.id);
    reader.assets.refresh();
    expect(reader.assets.at('10.0.0.1', start - 1)).toBe(id);
    expect(reader.assets.at('10.0.0.1', start + hour)).toBe(asset.id);
  });
});

describe('a change', () => {
  test('updates the given fields, increments the version, and records the author', async () => {
    const { store, reader } = opened();
    const { asset } = await store.createAsset({ name: 'a', tags: ['x'] }, analyst);
    const { asset: changed } = await store.changeAsset(
      asset.id,
      { owner: 'ops', tags: ['y'], ip_addresses: ['10.0.0.1'], state: 'retired' },
      analyst,
      1,
    );
    expect(changed).toEqual({
      ...asset,
      owner: 'ops',
      tags: ['y'],
      ip_addresses: ['10.0.0.1'],
      state: 'retired',
      version: 2,
    });
    expect(historyOf(reader, asset.id).slice(1)).toMatchObject([
      { action: 'edited', by, fields: ['owner', 'tags'] },
      { action: 'state_changed', by, state: 'retired' },
      { action: 'address_bound', by, ip_address: '10.0.0.1' },
    ]);
  });

  test('without effect is not stored', async () => {
    const { store, reader } = opened();
    const { asset } = await store.createAsset({ name: 'a', ip_addresses: ['10.0.0.1'], tags: ['x'] }, analyst);
    const { name, kind, tags, ip_addresses, mac_addresses, criticality, state } = asset;
    const all = { name, kind, tags, ip_addresses, mac_addresses, criticality, state, os: '', hostnames: [] };
    expect(await store.changeAsset(asset.id, all, analyst)).toEqual({ asset, unchanged: true });
    expect(historyOf(reader, asset.id)).toHaveLength(2);
  });

  test('removes values by empty strings and lists', async () => {
    const { store, reader } = opened();
    const { asset } = await store.createAsset(
      { name: 'a', os: 'x', owner: 'y', notes: 'z', vendor: 'v', tags: ['t'], ip_addresses: ['10.0.0.1'] },
      analyst,
    );
    await store.changeAsset(
      asset.id,
      { os: '', owner: '', notes: '', vendor: '', tags: [], ip_addresses: [] },
      analyst,
    );
    const left = reader.getAsset(asset.id)!;
    expect(left).toMatchObject({ tags: [], ip_addresses: [], version: 2 });
    for (const field of ['os', 'owner', 'notes', 'vendor']) expect(Object.hasOwn(left, field)).toBe(false);
  });

  test('replaces the addresses, in the given order', async () => {
    const open = opened();
    const { asset } = await open.store.createAsset({ ip_addresses: ['10.0.0.1', '10.0.0.2'] }, analyst);
    const { asset: changed } = await open.store.changeAsset(
      asset.id,
      { ip_addresses: ['10.0.0.3', '10.0.0.2'] },
      analyst,
    );
    expect(changed.ip_addresses).toEqual(['10.0.0.3', '10.0.0.2']);
    await see(open, { ip: '10.0.0.1', at: start + hour });
    expect(holder(open.reader, '10.0.0.1')).toMatchObject({ source: 'passive', state: 'staged' });
  });

  test.each([
    ['staged', 'managed', true],
    ['staged', 'retired', true],
    ['managed', 'retired', true],
    ['retired', 'managed', true],
    ['managed', 'staged', false],
    ['retired', 'staged', false],
  ] as const)('of the state from %s to %s is allowed: %s', async (from, to, allowed) => {
    const { store } = opened();
    const { asset } = await store.createAsset({ name: 'a', state: from }, analyst);
    const changed = store.changeAsset(asset.id, { state: to }, analyst);
    if (allowed) expect((await changed).asset.state).toBe(to);
    else await expect(changed).rejects.toMatchObject({ code: 'INVALID_TRANSITION', details: { from, to } });
  });

  test('is rejected for an unknown asset, and for another version', async () => {
    const { store } = opened();
    const { asset } = await store.createAsset({ name: 'a' }, analyst);
    const refused = { code: 'NOT_FOUND' };
    await expect(store.changeAsset(unknown, { name: 'b' }, analyst)).rejects.toMatchObject(refused);
    await expect(store.changeAsset('x', { name: 'b' }, analyst)).rejects.toMatchObject(refused);
    await expect(store.removeAsset(unknown)).rejects.toMatchObject(refused);
    await expect(store.mergeAssets(unknown, asset.id, analyst)).rejects.toMatchObject(refused);
    await expect(store.mergeAssets(asset.id, unknown, analyst)).rejects.toMatchObject(refused);
    await expect(store.splitAsset(unknown, ['10.0.0.1'], analyst)).rejects.toMatchObject(refused);
    const other = await store.createAsset({ name: 'other' }, analyst);
    const changed = { code: 'VERSION_MISMATCH', details: { version: asset.version } };
    const outdated = asset.version + 1;
    await expect(store.mergeAssets(asset.id, other.asset.id, analyst, outdated)).rejects.toMatchObject(changed);
    await expect(store.splitAsset(asset.id, ['10.0.0.1'], analyst, outdated)).rejects.toMatchObject(changed);
    const mismatch = { code: 'VERSION_MISMATCH', details: { version: 1 } };
    await expect(store.changeAsset(asset.id, { name: 'b' }, analyst, 2)).rejects.toMatchObject(mismatch);
    await expect(store.removeAsset(asset.id, 2)).rejects.toMatchObject(mismatch);
  });
});

describe('a removal', () => {
  test('deletes services and history; a host that is seen again becomes a new staged asset', async () => {
    const open = opened();
    const { store, reader } = open;
    const seen = () => inbound([{ dst_ip: '10.0.0.1', dst_mac: macA, dst_port: 22 }]);
    await store.commit(batchOf([], { blocks: [seen()] }));
    const { id } = holder(reader, '10.0.0.1');
    await store.removeAsset(id, 1);
    expect(assetsOf(reader)).toEqual([]);
    expect(historyOf(reader, id)).toEqual([]);
    expect(await store.status()).toMatchObject({ assets: 0, services: 0 });
    reader.assets.refresh();
    expect(reader.assets.at('10.0.0.1', start)).toBeUndefined();
    await store.commit(batchOf([], { blocks: [seen()] }));
    const again = holder(reader, '10.0.0.1');
    expect(again).toMatchObject({ state: 'staged', mac_addresses: [macA], service_count: 1, version: 1 });
    expect(again.id).not.toBe(id);
  });

  test('does not extend the time in which the previous owner had the address', async () => {
    const open = opened();
    const { store, reader } = open;
    await see(open, { ip: '10.0.0.1', mac: macA }, { ip: '10.0.0.1', mac: macB, at: start + hour });
    const first = assetsOf(reader).find(({ mac_addresses }) => mac_addresses.includes(macA))!;
    await store.removeAsset(holder(reader, '10.0.0.1').id);
    reader.assets.refresh();
    expect(reader.assets.at('10.0.0.1', start)).toBe(first.id);
    expect(reader.assets.at('10.0.0.1', start + 2 * hour)).toBeUndefined();
    expect(reader.getAsset(first.id)!.ip_addresses).toEqual([]);
  });
});

describe('a merge', () => {
  test('combines two assets into one: addresses over all time, services, names and history', async () => {
    const open = opened();
    open.clock.now = start + 2 * hour;
    const { store, reader } = open;
    const block = inbound([
      { dst_ip: '10.0.0.1', dst_mac: macA, dst_port: 22 },
      { dst_ip: '10.0.0.2', dst_mac: macB, dst_port: 443, timestamp: start + hour },
    ]);
    await store.commit(batchOf([], { blocks: [block] }));
    await sight(open, [{ kind: 'name', ip: '10.0.0.1', name: 'one', from: 'dhcp', at: start }]);
    const [from, into] = [holder(reader, '10.0.0.1'), holder(reader, '10.0.0.2')];
    await store.changeAsset(from.id, { notes: 'of one', tags: ['t'], owner: 'ops' }, analyst);
    const { asset } = await store.mergeAssets(from.id, into.id, analyst);
    expect(asset).toMatchObject({
      id: into.id,
      ip_addresses: ['10.0.0.2', '10.0.0.1'],
      mac_addresses: [macB, macA],
      hostnames: ['one'],
      name: 'one',
      notes: 'of one',
      tags: ['t'],
      owner: 'ops',
      service_count: 2,
      first_seen: new Date(start).toISOString(),
      last_seen: new Date(start + hour).toISOString(),
      version: 2,
    });
    expect(assetsOf(reader)).toHaveLength(1);
    expect(historyOf(reader, into.id)).toHaveLength(9);
    expect(historyOf(reader, into.id)).toContainEqual(
      expect.objectContaining({ action: 'merged', by, other_asset_id: from.id }),
    );
    reader.assets.refresh();
    expect(reader.assets.at('10.0.0.1', start)).toBe(into.id);
    expect(reader.mergedInto(from.id)).toBe(into.id);
    await expect(store.changeAsset(from.id, { name: 'b' }, analyst)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      details: { merged_into: into.id },
    });
    const { asset: last } = await store.createAsset({ name: 'last' }, analyst);
    await store.mergeAssets(into.id, last.id, analyst);
    expect(reader.mergedInto(from.id)).toBe(last.id);
    const refused = { code: 'NOT_FOUND', details: { merged_into: last.id } };
    await expect(store.changeAsset(from.id, { owner: 'x' }, analyst)).rejects.toMatchObject(refused);
    await expect(store.mergeAssets(last.id, from.id, analyst)).rejects.toMatchObject(refused);
    await see(open, { ip: '10.0.0.1', mac: macA, at: start + 2 * hour });
    expect(assetsOf(reader)).toHaveLength(1);
  });

  test.each([
    ['notes', { notes: 'n'.repeat(6000) }, { notes: 'm'.repeat(6000) }],
    ['tags', { tags: names('a', 60) }, { tags: names('b', 60) }],
    ['hostnames', { hostnames: names('a', 150) }, { hostnames: names('b', 150) }],
  ])('that would lose %s written by users is rejected without changes', async (field, a, b) => {
    const { store, reader } = opened();
    const { asset: from } = await store.createAsset({ name: 'a', ...a }, analyst);
    const { asset: into } = await store.createAsset({ name: 'b', ...b }, analyst);
    await expect(store.mergeAssets(from.id, into.id, analyst)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { field },
    });
    expect([reader.getAsset(from.id), reader.getAsset(into.id)]).toEqual([
      expect.objectContaining({ ...a, version: 1 }),
      expect.objectContaining({ ...b, version: 1 }),
    ]);
  });

  test('accepts notes of the maximum length, counted in characters', async () => {
    const { store } = opened();
    const { asset: from } = await store.createAsset({ name: 'a', notes: '😀'.repeat(4999) }, analyst);
    const { asset: into } = await store.createAsset({ name: 'b', notes: '😀'.repeat(4999) }, analyst);
    const { asset } = await store.mergeAssets(from.id, into.id, analyst);
    expect([...asset.notes!]).toHaveLength(10_000);
  });

  test('of an asset with itself is rejected', async () => {
    const { store } = opened();
    const { asset } = await store.createAsset({ name: 'a' }, analyst);
    await expect(store.mergeAssets(asset.id, asset.id, analyst)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { field: 'into' },
    });
  });
});

describe('a split', () => {
  test('moves addresses with their past and services to a new asset, and network evidence does not revert the split', async () => {
    const open = opened();
    const { store, reader } = open;
    const seen = (at: number) =>
      inbound([
        { dst_ip: '10.0.0.1', dst_mac: macA, dst_port: 22, timestamp: at - 1 },
        { dst_ip: '10.0.0.2', dst_mac: macA, dst_port: 443, timestamp: at },
      ]);
    await store.commit(batchOf([], { blocks: [seen(start)] }));
    const before = holder(reader, '10.0.0.1');
    const { asset } = await store.splitAsset(before.id, ['10.0.0.2'], analyst);
    expect(asset).toMatchObject({
      ip_addresses: ['10.0.0.2'],
      mac_addresses: [],
      service_count: 1,
      state: 'staged',
      version: 1,
    });
    expect(reader.getAsset(before.id)).toMatchObject({
      ip_addresses: ['10.0.0.1'],
      mac_addresses: [macA],
      service_count: 1,
    });
    for (const id of [before.id, asset.id])
      expect(historyOf(reader, id).at(-1)).toMatchObject({ action: 'split', by, identifiers: ['10.0.0.2'] });
    await store.commit(batchOf([], { blocks: [seen(start + hour)] }));
    expect(assetsOf(reader).map(({ id, ip_addresses }) => [id, ip_addresses])).toEqual([
      [before.id, ['10.0.0.1']],
      [asset.id, ['10.0.0.2']],
    ]);
    reader.assets.refresh();
    expect(reader.assets.at('10.0.0.2', 0)).toBe(asset.id);
  });

  test('of a MAC address moves the addresses that the MAC address was seen with', async () => {
    const open = opened();
    const { store, reader } = open;
    const { asset } = await store.createAsset({ name: 'two', mac_addresses: [macA, macB] }, analyst);
    await see(open, { ip: '10.0.0.1', mac: macA }, { ip: '10.0.0.2', mac: macB });
    const { asset: other } = await store.splitAsset(asset.id, [macB], analyst);
    expect(other).toMatchObject({
      ip_addresses: ['10.0.0.2'],
      mac_addresses: [macB],
      source: 'manual',
      state: 'managed',
    });
    expect(reader.getAsset(asset.id)).toMatchObject({ ip_addresses: ['10.0.0.1'], mac_addresses: [macA] });
    await see(open, { ip: '10.0.0.3', mac: macB, at: start + hour });
    expect(holder(reader, '10.0.0.3').id).toBe(other.id);
  });

  test('is rejected for unknown addresses, and for all addresses of the asset', async () => {
    const { store } = opened();
    const { asset } = await store.createAsset({ ip_addresses: ['10.0.0.1', '10.0.0.2'] }, analyst);
    await expect(store.splitAsset(asset.id, ['10.0.0.1', '10.0.0.9'], analyst)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'identifiers.1' },
    });
    await expect(store.splitAsset(asset.id, ['10.0.0.1', '10.0.0.2'], analyst)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { field: 'identifiers' },
    });
  });
});
