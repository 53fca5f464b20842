import { expect, onTestFinished, test, vi } from 'vitest';
import type { Asset } from '../../src/contract/resources/asset.ts';
import { packDerived } from '../../src/events/derived-data.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { Observations } from '../../src/inventory/model/observations.ts';
import { Assets } from '../../src/inventory/store/assets.ts';
import { limits } from '../../src/limits.ts';
import { afterUndoneMs } from '../../src/store/event-processing.ts';
import { SiemDamage } from '../../src/store/siem-damage.ts';
import type { IngestBatch, StoreReader } from '../../src/store/store.ts';
import { Topology } from '../../src/topology/store/topology.ts';
import { Slow } from '../detect/store/behaviour/slow.ts';
import { batchOf, everything, hour, type OpenedStore, opened, openProcessed, resources, start } from './opened.ts';
import { networkRecord } from './records.ts';

/** Answered connections to the hosts 10.0.0.<n>, so that each is an asset. */
function connections(hosts: readonly number[]): IngestBatch {
  const network = new BlockBuilder('network', start);
  for (const host of hosts)
    network.add(
      networkRecord({
        timestamp: start,
        dst_ip: `10.0.0.${host}`,
        ...{ transport: 'tcp', state: 'closed', direction: 'inbound' },
      }),
    );
  return batchOf([], { blocks: [network.finish()] });
}

const hostsIn = (reader: StoreReader): number[] =>
  resources<Asset>(reader.listAssets({ ...everything, per_page: 1000 }))
    .flatMap(({ attributes }) => (attributes.ip_addresses ?? []).map((ip) => Number(ip.split('.')[3])))
    .sort((a, b) => a - b);

/** Makes every read of a row with one of the hosts throw, as a bug that the row triggers would. */
function bugAt(...hosts: readonly number[]): void {
  const isHit: typeof Observations.prototype.recall = (block, _, from = 0, to = block.rows) => {
    const dst = block.addresses('dst_ip');
    for (let row = from; row < to; row++)
      if (hosts.includes(Number(dst.text(row)!.split('.')[3]))) throw new TypeError(`a bug at row ${row}`);
  };
  const { add, recall } = Observations.prototype;
  const adds = vi.spyOn(Observations.prototype, 'add').mockImplementation(function (this: Observations, ...args) {
    add.apply(this, args);
    isHit(args[0], args[1], args[3], args[4]);
  });
  const recalls = vi.spyOn(Observations.prototype, 'recall').mockImplementation(function (this: Observations, ...args) {
    isHit(...args);
    recall.apply(this, args);
  });
  onTestFinished(() => {
    adds.mockRestore();
    recalls.mockRestore();
  });
}

/** Makes every write of the topology throw, and hides the warnings about it. */
function bugInWrites() {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const write = vi.spyOn(Topology.prototype, 'write').mockImplementation(() => {
    throw new TypeError('a bug');
  });
  onTestFinished(() => {
    warned.mockRestore();
    write.mockRestore();
  });
  return { write };
}

async function settled(store: Pick<OpenedStore, 'commit'>): Promise<void> {
  for (let i = 0; i < 3; i++) await store.commit(batchOf([]));
}

test('events whose processing fails are skipped without waiting for another transaction, even with a long queue of events', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  // Without a retry, processing would pause after each abort. In this test such a pause does not end.
  const { setTimeout: startTimer } = globalThis;
  vi.stubGlobal('setTimeout', (run: () => void, ms: number) => startTimer(run, ms === afterUndoneMs ? hour : ms));
  onTestFinished(() => {
    vi.unstubAllGlobals();
    warned.mockRestore();
  });
  bugAt(200, 201, 202);
  const { store } = opened({ home: ['10.0.0.0/8'], detectors: () => [new Slow()] });
  const many = Array.from({ length: 8000 }, (_, n) => (n % 100) + 1);
  // Each event of a failing pass is processed alone, so its block is small.
  const few = many.slice(0, 500);
  const batches = [[200, ...few], many, many, [...few, 201, 202]].map(connections);
  await Promise.all(batches.map((batch) => store.commitOnly(batch)));
  // Status calls are not part of transactions, so they do not resume processing.
  await vi.waitFor(async () => expect((await store.status()).uncounted_events).toBe(0), 240_000);
  const { damage } = await store.status();
  expect(damage.skipped).toHaveLength(3);
});

test('an event whose processing fails is stored and skipped, and all other events are processed', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  onTestFinished(() => warned.mockRestore());
  bugAt(3, 5);
  const { dataDir, store, reader } = opened({ home: ['10.0.0.0/8'] });
  const [first] = await Promise.all([
    store.commit(connections([1, 2, 3, 4])),
    store.commit(connections([5])),
    settled(store),
  ]);
  expect(first.blocks).toHaveLength(1);
  await store.commit(connections([6]));
  await settled(store);
  expect(hostsIn(reader)).toEqual([1, 2, 4, 6]);
  const { damage, events, uncounted_events } = await store.status();
  expect({ events, uncounted_events }).toEqual({ events: { network: 6, dns: 0 }, uncounted_events: 0 });
  expect(damage.skipped).toEqual([
    { id: expect.any(String), reason: 'TypeError: a bug at row 2', at: expect.any(Number) },
    { id: expect.any(String), reason: 'TypeError: a bug at row 0', at: expect.any(Number) },
  ]);
  const shown = damage.skipped.map(({ id }) => reader.getEvent('network', id)?.dst_ip);
  expect(shown).toEqual(['10.0.0.3', '10.0.0.5']);
  expect(damage.stopped).toBe(false);
  const known = new SiemDamage(store, () => start);
  await known.refresh();
  expect(known.findings()).toEqual([
    {
      code: 'events_skipped',
      message: `Processing failed for stored events: ${damage.skipped[0]!.id}; ${damage.skipped[1]!.id}. Detectors, assets and statistics leave them out. Queries and exports return all events. The cause is a bug, and the log of the service has the error: report it.`,
      since: new Date(start).toISOString(),
    },
  ]);
  expect(warned.mock.calls.map(([line]) => line)).toEqual([
    ...damage.skipped.map(({ id }) =>
      expect.stringContaining(`event ${id} is skipped by detectors, assets and statistics: TypeError: a bug`),
    ),
  ]);

  await store.close();
  const again = await openProcessed({ dataDir, alertWindowMs: hour, home: ['10.0.0.0/8'] });
  await again.commit(connections([7]));
  await settled(again);
  expect((await again.damage()).skipped).toEqual(damage.skipped);
  expect(hostsIn(reader)).toEqual([1, 2, 4, 6, 7]);
  await again.close();
});

test('a start skips an event whose processing fails, and processes the stored events', async () => {
  const { dataDir, store, reader } = opened({ home: ['10.0.0.0/8'] });
  const { write } = bugInWrites();
  await store.commit(connections([1, 2, 3]));
  await store.commit(connections([4]));
  await store.close();
  write.mockRestore();
  bugAt(2);
  const started = await openProcessed({ dataDir, alertWindowMs: hour, home: ['10.0.0.0/8'] });
  expect(hostsIn(reader)).toEqual([1, 3, 4]);
  expect((await started.damage()).skipped).toMatchObject([{ reason: 'TypeError: a bug at row 1' }]);
  await started.close();
});

test('an error that no single event causes stops processing until the next start; events are still stored', async () => {
  const { dataDir, store, reader } = opened({ home: ['10.0.0.0/8'] });
  const { write } = bugInWrites();
  const [, removal] = await Promise.allSettled([
    store.commit(connections([1])),
    store.removeAsset('01900000-0000-7000-8000-00000000000a'),
  ]);
  expect(removal).toMatchObject({
    status: 'rejected',
    reason: { code: 'INTERNAL', message: 'processing of events has stopped; see /health' },
  });
  for (const host of [2, 3]) await store.commit(connections([host]));
  const { damage, events, uncounted_events } = await store.status();
  expect({ network: events.network, uncounted_events, stopped: damage.stopped, skipped: damage.skipped }).toEqual({
    network: 3,
    uncounted_events: 3,
    stopped: true,
    skipped: [],
  });
  expect(hostsIn(reader)).toEqual([]);
  await expect(store.removeAsset('01900000-0000-7000-8000-00000000000a')).rejects.toMatchObject({
    code: 'INTERNAL',
    message: 'processing of events has stopped; see /health',
  });
  await store.close();
  const failing = await openProcessed({ dataDir, alertWindowMs: hour, home: ['10.0.0.0/8'] });
  expect((await failing.damage()).stopped).toBe(true);
  await failing.commit(connections([4]));
  await failing.close();
  write.mockRestore();
  const mended = await openProcessed({ dataDir, alertWindowMs: hour, home: ['10.0.0.0/8'] });
  expect(hostsIn(reader)).toEqual([1, 2, 3, 4]);
  await mended.close();
});

test('processing stops when too many events are skipped', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  onTestFinished(() => warned.mockRestore());
  const hosts = Array.from({ length: limits.maxSkippedEvents + 1 }, (_, n) => n + 100);
  bugAt(...hosts);
  const { store, reader } = opened({ home: ['10.0.0.0/8'] });
  await store.commit(connections([1, ...hosts, 2]));
  await settled(store);
  const { damage, events } = await store.status();
  expect({ network: events.network, skipped: damage.skipped.length, stopped: damage.stopped }).toEqual({
    network: hosts.length + 2,
    skipped: limits.maxSkippedEvents,
    stopped: true,
  });
  // The first host may be in a delta that was written before.
  expect(hostsIn(reader)).not.toContain(2);
});

test('events that fail only together are all processed', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const { add } = Observations.prototype;
  const adds = vi.spyOn(Observations.prototype, 'add').mockImplementation(function (this: Observations, ...args) {
    add.apply(this, args);
    if (args[4]! - args[3]! > 1) throw new RangeError('too many at once');
  });
  onTestFinished(() => {
    adds.mockRestore();
    warned.mockRestore();
  });
  const { store, reader } = opened({ home: ['10.0.0.0/8'] });
  await Promise.all([
    store.commit(connections([1, 2])),
    store.commit(connections([3, 4])),
    store.commit(connections([5, 6])),
  ]);
  await settled(store);
  expect(hostsIn(reader)).toEqual([1, 2, 3, 4, 5, 6]);
  expect((await store.damage()).skipped).toEqual([]);
  expect(warned).not.toHaveBeenCalled();
});

test('a sighting whose processing fails is skipped, and the events of its batch are processed', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const { sight } = Assets.prototype;
  const sights = vi.spyOn(Assets.prototype, 'sight').mockImplementation(function (this: Assets, sighting) {
    sight.call(this, sighting);
    if ('ip' in sighting && sighting.ip === '10.0.0.9') throw new TypeError('a bug');
  });
  onTestFinished(() => {
    sights.mockRestore();
    warned.mockRestore();
  });
  const { store, reader } = opened({ home: ['10.0.0.0/8'] });
  const sightings = ['10.0.0.8', '10.0.0.9'].map((ip) => ({ kind: 'host' as const, ip, at: start }));
  await store.commit({ ...connections([1]), ...packDerived({ sightings }) });
  await settled(store);
  expect(hostsIn(reader)).toEqual([1, 8]);
  expect(warned.mock.calls).toEqual([[expect.stringContaining('sighting {"kind":"host","ip":"10.0.0.9"')]]);
  expect((await store.damage()).stopped).toBe(false);
});
