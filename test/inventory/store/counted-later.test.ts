import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { criticalEvent } from '../../../src/contract/critical-events.ts';
import type { Asset } from '../../../src/contract/resources/asset.ts';
import type { Service } from '../../../src/contract/resources/service.ts';
import { DamagedBlockError } from '../../../src/events/store/damaged-range.ts';
import type { Sighting } from '../../../src/inventory/model/sighting.ts';
import { limits } from '../../../src/limits.ts';
import { openProjector } from '../../../src/store/open-projector.ts';
import { openReader } from '../../../src/store/reader.ts';
import { openStore } from '../../../src/store/writer.ts';
import {
  administrator,
  analyst,
  batchOf,
  everything,
  finding,
  hour,
  opened,
  openProcessed,
  resources,
  start,
} from '../../store/opened.ts';
import { batch, block, counted, countedOfEvents, ssh } from './traffic.ts';

const address = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

/** Rows of a block: their hosts and services fill a delta of the projector. */
const rows = 1024;

/** Returns a body of connections to this many distinct hosts, far more than one transaction processes. */
function bodyOf(hosts: number, sightings: readonly Sighting[] = []) {
  const blocks: ArrayBuffer[] = [];
  for (let from = 0; from < hosts; from += rows) {
    blocks.push(block(Array.from({ length: rows }, (_, i) => ssh({ dst_ip: address(from + i) }))));
  }
  return batch([], { blocks, sightings });
}

const many = 5 * rows;

/** Returns a batch with a finding that refers to a missing event. Such a bug in a caller aborts the transaction. */
const broken = () => batch([], { findings: [finding({ event: { block: 7, row: 0 } })] });

test('a body of unknown hosts is acknowledged first and processed gradually, each event once', async () => {
  const { store, reader } = opened();
  await store.commitOnly(bodyOf(many));
  const first = await store.status();
  expect(first.events.network).toBe(many);
  expect(first.assets).toBeLessThan(many);
  // Other batches are committed in between.
  for (let i = 0; i < 5; i++) await store.commitOnly(batch([ssh({ dst_ip: '10.200.0.1', dst_port: i + 1 })]));
  await expect
    .poll(() => reader.listServices({ terms: [], sort: 'ip', order: 'asc', page: 1, per_page: 1 }).total, {
      timeout: 60_000,
    })
    .toBe(many + 5);
  expect(counted(reader)).toEqual(countedOfEvents(reader));
  expect(await store.status()).toMatchObject({ assets: many + 1, services: many + 5 });
});

test('sightings of pending events are processed after the events, even across a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-counted-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const options = { dataDir, alertWindowMs: hour, clock: () => start };
  const last = address(many - 1);
  const mac = '00:1b:63:01:02:03';
  const store = openStore(options);
  await store.commit(
    bodyOf(many, [
      { kind: 'host', ip: last, mac, at: start + 1 },
      { kind: 'name', ip: last, name: 'last.example', from: 'dhcp', at: start + 1 },
    ]),
  );
  await store.commit(
    batch([], {
      blocks: [],
      sightings: [{ kind: 'service', ip: last, port: 22, transport: 'tcp', product: 'OpenSSH', at: start + 2 }],
    }),
  );
  expect((await store.status()).assets).toBeLessThan(many);
  await store.close();
  const again = await openProcessed(options);
  const reader = openReader(dataDir);
  const query = { ...everything, sort: 'ip' };
  const found = resources<Asset>(reader.listAssets({ ...query, terms: [{ field: 'ip', values: [last] }] }));
  expect(found).toMatchObject([
    { attributes: { hostnames: ['last.example'], mac_addresses: [mac], service_count: 1 } },
  ]);
  const terms = [{ field: 'asset_id', values: [found[0]!.id] }];
  expect(resources<Service>(reader.listServices({ ...query, terms }))).toMatchObject([
    { attributes: { product: 'OpenSSH', connections: 1 } },
  ]);
  expect(await again.status()).toMatchObject({ assets: many, services: many });
  reader.close();
  await again.close();
});

test("users' changes are planned after all earlier events are processed", async () => {
  const { store } = opened();
  await store.commitOnly(bodyOf(many));
  const taken = store.createAsset({ name: 'mine', ip_addresses: [address(many - 1)] }, analyst);
  await expect(taken).rejects.toMatchObject({ code: 'CONFLICT' });
  expect((await store.status()).assets).toBe(many);
});

test("users' changes do not wait for events stored later", async () => {
  const { store } = opened();
  await store.commitOnly(bodyOf(many));
  let isChanged = false;
  const change = store.createAsset({ name: 'mine', ip_addresses: ['10.250.0.1'] }, analyst).finally(() => {
    isChanged = true;
  });
  // Events constantly arrive faster than they are processed: each body fills three deltas.
  const body = 3 * rows;
  let commits = 0;
  while (!isChanged && commits < 200) {
    const from = many + commits++ * body;
    await store.commitOnly(batch(Array.from({ length: body }, (_, i) => ssh({ dst_ip: address(from + i) }))));
  }
  expect(isChanged).toBe(true);
  expect((await change).asset.name).toBe('mine');
});

test('a small change is committed before batches that were sent earlier', async () => {
  const { store } = opened();
  const order: string[] = [];
  const batches = [0, 1, 2].map((n) => store.commitOnly(bodyOf(many)).then(() => order.push(`batch ${n}`)));
  const change = store.createPrincipal(administrator(), analyst).then(() => order.push('change'));
  await Promise.all([...batches, change]);
  expect(order).toEqual(['change', 'batch 0', 'batch 1', 'batch 2']);
});

test('while too many events wait to be processed, a batch waits for 1.5 s, and small changes do not wait', async () => {
  const time = { ms: 0 };
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time.ms);
  onTestFinished(() => clock.mockRestore());
  const { store } = opened({
    // This projector processes nothing.
    projector: (_, receive) => ({
      send: ({ kind }) => {
        if (kind === 'finish') receive({ kind: 'finished' });
      },
      close: async () => {},
    }),
  });
  const full = block(Array.from({ length: limits.maxBlockRows }, () => ssh()));
  const blocks = Array.from({ length: Math.ceil(limits.maxUncountedEvents / limits.maxBlockRows) }, () => full.slice());
  await store.commitOnly({ ...batch([]), blocks });
  const before = (await store.status()).uncounted_events;
  expect(before).toBeGreaterThan(limits.maxUncountedEvents);
  const order: string[] = [];
  const waiting = store.commitOnly(batch([ssh()])).then(() => order.push('batch'));
  for (const addedMs of [0, 1499]) {
    time.ms += addedMs;
    await store.record(criticalEvent('token.revoked', 'jti', {}, 'system'));
    order.push(`change after ${time.ms} ms`);
    await sleep(20);
  }
  expect(order).toEqual(['change after 0 ms', 'change after 1499 ms']);
  time.ms++;
  await waiting;
  const { uncounted_events, limits_reached } = await store.status();
  expect(uncounted_events).toBe(before + 1);
  expect(limits_reached).toMatchObject({ maxUncountedEvents: 2 });
});

test('processing continues after an aborted transaction, without another batch', async () => {
  const { store, reader } = opened();
  const sightings: Sighting[] = [
    { kind: 'service', ip: address(many - 1), port: 22, transport: 'tcp', product: 'OpenSSH', at: start },
  ];
  const results = await Promise.allSettled([
    store.commitOnly(bodyOf(many, sightings)),
    store.commitOnly(broken()),
    store.commitOnly(batch([ssh({ dst_ip: address(0), dst_port: 23 })])),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  await expect(store.commit(broken())).rejects.not.toHaveProperty('code');
  await expect
    .poll(() => reader.listServices({ terms: [], sort: 'ip', order: 'asc', page: 1, per_page: 1 }).total, {
      timeout: 60_000,
    })
    .toBe(many + 1);
  expect(counted(reader)).toEqual(countedOfEvents(reader));
  const told = { ...everything, sort: 'ip', terms: [{ field: 'ip', values: [address(many - 1)] }] };
  expect(resources<Service>(reader.listServices(told))).toMatchObject([
    { attributes: { product: 'OpenSSH', connections: 1 } },
  ]);
});

test('`processed` resolves after the results are written, even if transactions are aborted', async () => {
  const { store, reader } = opened();
  for (let port = 1; port <= 10; port++) {
    await store.commitOnly(batch([ssh({ dst_port: port })]));
    const processed = store.processed();
    for (let times = 0; times < 10; times++) await store.commitOnly(broken()).catch(() => undefined);
    await processed;
    expect(Object.keys(counted(reader))).toHaveLength(port);
  }
});

test('events whose results are in memory are counted once when the projector starts again', async () => {
  const projector = { fail: () => {} };
  const { store, reader } = opened({
    projector: (settings, receive) => {
      const error = new DamagedBlockError('network', 1, 'for a test');
      projector.fail = () => receive({ kind: 'failed', start: 1, error });
      return openProjector({ ...settings, home: [] }, () => [], receive);
    },
  });
  await store.commitOnly(bodyOf(many));
  await vi.waitFor(async () => expect((await store.status()).services).toBeGreaterThan(0), {
    timeout: 60_000,
    interval: 1,
  });
  expect((await store.status()).uncounted_events).toBe(many);
  projector.fail();
  await store.processed();
  expect(counted(reader)).toEqual(countedOfEvents(reader));
});

test('sightings of thousands of hosts are processed gradually', async () => {
  const { store } = opened();
  const sightings = Array.from({ length: many }, (_, n): Sighting => {
    return { kind: 'host', ip: address(n), at: start };
  });
  await store.commitOnly(batchOf([], { sightings }));
  expect((await store.status()).assets).toBeLessThan(many);
  await expect.poll(async () => (await store.status()).assets, { timeout: 60_000 }).toBe(many);
});

test('a device that turns out to be a known host is removed immediately, even if many rows wait to be written', async () => {
  const { store, reader } = opened();
  const mac = '00:1b:63:01:02:03';
  const ip = '10.240.0.1';
  const ofMac = { ...everything, sort: 'ip', terms: [{ field: 'mac', values: [mac] }] };
  await store.commit(batch([ssh({ dst_ip: ip })], { sightings: [{ kind: 'host', mac, at: start }] }));
  expect(resources<Asset>(reader.listAssets(ofMac))).toMatchObject([{ attributes: { ip_addresses: [] } }]);
  const others = Array.from({ length: many }, (_, n): Sighting => {
    return { kind: 'host', ip: address(n), at: start + 2 };
  });
  await store.commit(batchOf([], { sightings: [{ kind: 'host', ip, mac, at: start + 1 }, ...others] }));
  expect(resources<Asset>(reader.listAssets(ofMac))).toMatchObject([{ attributes: { ip_addresses: [ip] } }]);
});
