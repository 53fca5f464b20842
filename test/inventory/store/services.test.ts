import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { rangeOf } from '../../../src/inventory/store/known-service.ts';
import { serviceOf } from '../../../src/inventory/store/service-row.ts';
import { type Scanned, type ServiceLimits, Services } from '../../../src/inventory/store/services.ts';
import { openTables } from '../../../src/store/tables.ts';
import { uuid7 } from '../../../src/uuid.ts';

const at = Date.UTC(2026, 10, 20);
const asset = uuid7(at);
const other = uuid7(at);
const web = { ip: '10.0.0.1', port: 80, transport: 'tcp' };
const seen = (more: object = {}) => ({
  ...web,
  connections: 1,
  clients: Uint32Array.of(1),
  first: at,
  last: at,
  ...more,
});

/** Services in a separate database; every call is in a transaction. */
function opened(most?: ServiceLimits) {
  const folder = mkdtempSync(join(tmpdir(), 'candor-services-'));
  const root = openDatabase(join(folder, 'siem.mdb'));
  onTestFinished(async () => {
    await root.close();
    rmSync(folder, { recursive: true });
  });
  const tables = openTables(root);
  const open = new Map<string, number>();
  const changed = (id: string, by: number) => void open.set(id, (open.get(id) ?? 0) + by);
  const services = new Services(tables, changed, () => at, most);
  const within = (change: (services: Services) => void) => root.transactionSync(() => change(services));
  const all = () => {
    within(() => services.write());
    return Array.from(tables.services.getRange(), ({ key: id, value }) => ({ id, ...serviceOf(value) }));
  };
  return { root, tables, services, open, within, all };
}

describe('a service', () => {
  test('has one name for all sensors and scans, the most specific name', () => {
    const { within, all } = opened();
    const tls = { ...web, port: 443 };
    within((services) => {
      services.seen(asset, seen({ name: 'ssl' }));
      services.seen(asset, seen({ port: 443, name: 'ssl' }));
      services.scanned(asset, { ...tls, name: 'https', state: 'open', at });
      services.seen(asset, seen({ port: 443, name: 'tls' }));
    });
    expect(new Map(all().map(({ port, name }) => [port, name]))).toEqual(
      new Map([
        [80, 'tls'],
        [443, 'https'],
      ]),
    );
  });

  test('adds up its traffic, across writes', () => {
    const { within, all, open } = opened();
    within((services) => {
      services.seen(asset, seen({ name: 'http', last: at + 10 }));
      services.write();
      services.forget();
      services.seen(asset, seen({ connections: 3, clients: Uint32Array.of(1, 9), first: at - 5 }));
    });
    expect(all()).toEqual([
      {
        id: expect.any(String),
        asset_id: asset,
        ...web,
        name: 'http',
        state: 'open',
        source: 'passive',
        connections: 4,
        clients: 2,
        first_seen: new Date(at - 5).toISOString(),
        last_seen: new Date(at + 10).toISOString(),
      },
    ]);
    expect(open).toEqual(new Map([[asset, 1]]));
  });

  test('has source scan if a scan found it first, and keeps its product', () => {
    const { within, all } = opened();
    const found: Scanned = { ...web, state: 'open', product: 'nginx', version: '1.27', at };
    within((services) => {
      services.scanned(asset, found);
      services.seen(asset, seen({ name: 'http' }));
      services.sight(asset, { kind: 'service', ...web, product: 'nginx', at });
    });
    expect(all()).toMatchObject([{ source: 'scan', name: 'http', product: 'nginx', version: '1.27', connections: 1 }]);
    within((services) => services.scanned(asset, { ...found, product: 'Caddy', version: '2', at: at + 1 }));
    expect(all()).toMatchObject([{ product: 'Caddy', version: '2' }]);
  });

  test('is closed by a scan that finds it closed, until newer evidence', () => {
    const { within, all, open } = opened();
    const scan = (state: Scanned['state'], time: number) => (services: Services) =>
      services.scanned(asset, { ...web, state, at: time });
    const state = () => [all()[0]?.state, open.get(asset)];
    within(scan('closed', at));
    expect(all()).toEqual([]);
    within((services) => services.seen(asset, seen()));
    within(scan('closed', at));
    expect(state()).toEqual(['open', 1]);
    within(scan('closed', at + 10));
    expect(state()).toEqual(['closed', 0]);
    within(scan('closed', at + 20));
    within((services) => services.seen(asset, seen({ last: at + 15 })));
    expect(state()).toEqual(['closed', 0]);
    within((services) => services.seen(asset, seen({ last: at + 21 })));
    expect(state()).toEqual(['open', 1]);
    within(scan('closed', at + 30));
    within(scan('open', at + 31));
    expect(state()).toEqual(['open', 1]);
  });

  test('has texts of bounded length; names of transports that are too long are dropped and counted', () => {
    const { within, all, services } = opened();
    within(() => {
      services.seen(asset, seen({ name: 'n'.repeat(5000) }));
      services.seen(asset, seen({ transport: 't'.repeat(3000) }));
      services.scanned(asset, { ...web, transport: 't'.repeat(17), state: 'open', at });
    });
    expect(all().map(({ name, transport }) => [name?.length, transport])).toEqual([[255, 'tcp']]);
    expect(services.withoutTransport).toBe(2);
  });

  test('has printable texts', () => {
    const { within, all } = opened();
    within((services) => {
      services.seen(asset, seen({ name: `${'n'.repeat(254)}😀` }));
      services.scanned(asset, { ...web, state: 'open', product: 'ng\u202einx\u0000', version: '\u0007', at });
    });
    expect(all()).toMatchObject([{ name: 'n'.repeat(254), product: 'ng inx' }]);
    expect(all()[0]).not.toHaveProperty('version');
    within((services) => services.seen(asset, seen({ name: '\u0000' })));
    expect(all()).toMatchObject([{ name: 'n'.repeat(254) }]);
  });
});

test('services above the limit are dropped and counted; known services continue', () => {
  const { within, services } = opened({ maxServices: 5, maxServicesPerAsset: 3 });
  within(() => {
    for (let port = 1; port <= 6; port++) {
      services.seen(asset, seen({ port }));
      if (port === 2) services.write();
      if (port === 4) services.forget();
    }
  });
  // Two services were written, and are known again after `forget`.
  expect([services.count, services.beyondAsset, services.beyondAll]).toEqual([3, 2, 0]);
  within(() => {
    for (let port = 1; port <= 3; port++) services.seen(other, seen({ port }));
    services.seen(other, seen({ port: 1 }));
  });
  expect([services.count, services.beyondAsset, services.beyondAll]).toEqual([5, 2, 1]);
});

test.each(['\uffff', '😀', '\u{10ffff}', ''])('services of transport %j are bounded and removed', (transport) => {
  const { within, services, tables, all } = opened({ maxServices: 9, maxServicesPerAsset: 2 });
  within(() => {
    services.seen(asset, seen({ transport }));
    services.write();
    services.forget();
    for (let port = 1; port <= 3; port++) services.seen(asset, seen({ transport, port }));
    services.write();
  });
  expect([services.count, services.beyondAsset]).toEqual([2, 2]);
  expect([...tables.serviceKeys.getRange(rangeOf(asset))]).toHaveLength(2);
  within(() => services.seen(other, seen()));
  expect([...tables.serviceKeys.getRange(rangeOf(asset))]).toHaveLength(2);
  within(() => services.removeOf(asset));
  expect(all()).toMatchObject([{ asset_id: other }]);
});

describe('when assets change', () => {
  test('duplicate services are merged, and other services move with their ids', () => {
    const { within, all, open, services } = opened();
    within(() => {
      services.seen(asset, seen({ clients: Uint32Array.of(1, 2), last: at + 5, name: 'http' }));
      services.seen(asset, seen({ port: 443 }));
      services.seen(other, seen({ clients: Uint32Array.of(2, 3), first: at - 9, name: 'old' }));
      services.scanned(other, { ...web, state: 'closed', at: at + 1 });
    });
    const moved = all().find(({ port }) => port === 443)!.id;
    const kept = all().find(({ asset_id }) => asset_id === other)!.id;
    within(() => services.mergeInto(asset, other));
    expect(all().sort((a, b) => a.port - b.port)).toMatchObject([
      { id: kept, asset_id: other, port: 80, connections: 2, clients: 3, state: 'open', name: 'http' },
      { id: moved, asset_id: other, port: 443, connections: 1, clients: 1 },
    ]);
    expect(open).toEqual(
      new Map([
        [asset, 0],
        [other, 2],
      ]),
    );
    expect(services.count).toBe(2);
  });

  test('services move with their address', () => {
    const { within, all, services } = opened();
    within(() => {
      services.seen(asset, seen());
      services.seen(asset, seen({ ip: '10.0.0.2' }));
      services.moveAddresses(asset, new Map([['10.0.0.2', other]]));
    });
    expect(
      all()
        .map(({ ip, asset_id }) => [ip, asset_id])
        .sort(),
    ).toEqual([
      ['10.0.0.1', asset],
      ['10.0.0.2', other],
    ]);
  });

  test('many addresses move to many assets together, without reading the services that stay', () => {
    const { within, all, services, tables } = opened();
    const ipOf = (i: number) => `10.0.0.${i}`;
    const others = new Map(Array.from({ length: 50 }, (_, i) => [ipOf(i), uuid7(at)]));
    within(() => {
      for (let i = 0; i < 100; i++) services.seen(asset, seen({ ip: ipOf(i) }));
    });
    const ranges = vi.spyOn(tables.serviceKeys, 'getRange');
    const reads = vi.spyOn(tables.services, 'get');
    within(() => services.moveAddresses(asset, others));
    const ofAsset = JSON.stringify(rangeOf(asset).start);
    const readings = ranges.mock.calls.filter(([range]) => JSON.stringify(range?.start) === ofAsset);
    expect(readings).toHaveLength(1);
    expect(reads.mock.calls.length).toBeLessThanOrEqual(50);
    vi.restoreAllMocks();
    const owners = new Map(all().map(({ ip, asset_id }) => [ip, asset_id]));
    for (let i = 0; i < 100; i++) expect(owners.get(ipOf(i))).toBe(others.get(ipOf(i)) ?? asset);
  });

  test('services of a removed asset are removed with all of their rows', () => {
    const { within, services, tables } = opened();
    within(() => {
      services.seen(asset, seen());
      services.seen(other, seen());
      services.removeOf(asset);
      services.write();
    });
    expect(services.count).toBe(1);
    for (const table of [tables.services, tables.serviceKeys, tables.serviceClients])
      expect(table.getKeysCount()).toBe(1);
  });
});

test('any changes have the same result as in a map, whenever they are written; aborted changes have no effect', () => {
  const places = fc.record({ ip: fc.constantFrom('10.0.0.1', '10.0.0.2'), port: fc.constantFrom(1, 2, 3) });
  const assets = fc.constantFrom(asset, other);
  const change = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('seen' as const), asset: assets, place: places }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('merge' as const), asset: assets }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), asset: assets, place: places }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), asset: assets }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const) }) },
  );
  const { root, services, tables } = opened();
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.boolean(), (changes, undone) => {
      const want = new Map<string, number>();
      const rename = (from: string, to: string, ip = '') => {
        for (const [key, count] of [...want]) {
          if (!key.startsWith(`${from} ${ip}`)) continue;
          want.delete(key);
          const moved = key.replace(from, to);
          want.set(moved, (want.get(moved) ?? 0) + count);
        }
      };
      const run = () => {
        for (const one of changes) {
          if (one.kind === 'write') services.write();
          else {
            const target = one.asset === asset ? other : asset;
            if (one.kind === 'seen') {
              services.seen(one.asset, seen(one.place));
              const key = `${one.asset} ${one.place.ip} ${one.place.port}`;
              want.set(key, (want.get(key) ?? 0) + 1);
            } else if (one.kind === 'merge') {
              services.mergeInto(one.asset, target);
              rename(one.asset, target);
            } else if (one.kind === 'move') {
              services.moveAddresses(one.asset, new Map([[one.place.ip, target]]));
              rename(one.asset, target, one.place.ip);
            } else {
              services.removeOf(one.asset);
              for (const key of [...want.keys()]) if (key.startsWith(one.asset)) want.delete(key);
            }
          }
        }
      };
      const attempt = () =>
        root.transactionSync(() => {
          run();
          services.write();
          if (undone) throw new Error('undone');
        });
      if (undone) {
        expect(attempt).toThrow('undone');
        services.forget();
        want.clear();
      } else attempt();
      const rows = Array.from(tables.services.getRange(), ({ value }) => serviceOf(value));
      const got = new Map(
        rows.map(({ asset_id, ip, port, connections }) => [`${asset_id} ${ip} ${port}`, connections]),
      );
      expect(got).toEqual(want);
      expect(services.count).toBe(want.size);
      expect(tables.serviceKeys.getKeysCount()).toBe(want.size);
      root.transactionSync(() => {
        services.removeOf(asset);
        services.removeOf(other);
      });
    }),
    { numRuns: 40 },
  );
});
