/** Background merging of event blocks and of the topology. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../src/database/lmdb.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { columnIndex } from '../../src/events/format/columns.ts';
import { EventStore } from '../../src/events/store/event-store.ts';
import { limits } from '../../src/limits.ts';
import { blockMergerThread } from '../../src/store/block-merger-thread.ts';
import { databaseFile, openTables } from '../../src/store/tables.ts';
import { noProjector } from '../../src/store/waiting-projector.ts';
import { openStore } from '../../src/store/writer.ts';
import { graphState } from '../../src/topology/store/segments.ts';
import { Slow } from '../detect/store/behaviour/slow.ts';
import { dnsRecord } from '../rollups/store/dns-records.ts';
import { batchOf, hour, opened, start } from './opened.ts';
import { networkRecord } from './records.ts';

/** Returns the progress of merging, read from the file of a store. */
function progressOf(dataDir: string) {
  const root = openDatabase(join(dataDir, databaseFile), { readOnly: true });
  onTestFinished(() => root.close());
  const events = new EventStore(root);
  const tables = openTables(root);
  return () => {
    events.refresh();
    const blocks = (table: 'network' | 'dns') => events.blockStore.state(table).blocks;
    return { network: blocks('network'), dns: blocks('dns'), taken: graphState(tables).taken };
  };
}

/** Returns small blocks, four per day. Blocks are merged day by day. */
const smallBlocks = (days: number, rows = 1) =>
  Array.from({ length: 4 * days }, (_, n) => {
    const builder = new BlockBuilder('network', start - 24 * hour * (n >> 2));
    for (let row = 0; row < rows; row++) builder.add(networkRecord({ timestamp: start + n + row }));
    return builder.finish();
  });

/** Returns blocks of connections to many networks, whose edges are due to be added to the runs of the topology. */
const manyEdges = (blocks: number) =>
  Array.from({ length: blocks }, (_, part) => {
    const builder = new BlockBuilder('network', start);
    for (let n = 0; n < 6000; n++) {
      const dst_ip = `20.${32 * part + (n >> 8)}.${n & 255}.1`;
      builder.add(networkRecord({ timestamp: start, src_ip: '10.0.0.1', dst_ip, direction: 'outbound' }));
    }
    return builder.finish();
  });

const lookups = () =>
  Array.from({ length: 8 }, (_, n) => {
    const builder = new BlockBuilder('dns', start);
    builder.add(dnsRecord({ timestamp: start + n }));
    return builder.finish();
  });

test('network blocks, DNS blocks and the topology are merged', async () => {
  const { store, dataDir } = opened({ detectors: () => [], home: ['10.0.0.0/8'] });
  const progress = progressOf(dataDir);
  await store.commit(batchOf([], { blocks: [...smallBlocks(20), ...manyEdges(3), ...lookups()] }));
  // One network block for each day, and three large blocks.
  const merged = { network: 20 + 3, dns: 1, taken: expect.toSatisfy((n) => n > 0) };
  await vi.waitFor(() => expect(progress()).toMatchObject(merged), { timeout: 60_000, interval: 1 });
});

test('blocks are merged while commits wait', async () => {
  const { store, dataDir } = opened({ detectors: () => [] });
  const progress = progressOf(dataDir);
  await store.commitOnly(batchOf([], { blocks: smallBlocks(200) }));
  const [block] = smallBlocks(1);
  let commits = 0;
  let areMerged = false;
  // The answer of a commit is followed by the next commit, so that commits always wait. Without merges, they never end.
  const commit = async (): Promise<void> => {
    while (!areMerged) {
      await store.commitOnly(batchOf([], { blocks: [block!.slice()] }));
      commits++;
      if (commits % 8 === 0) areMerged = progress().network < 4 * 200 + commits - 10;
    }
  };
  await Promise.all(Array.from({ length: 8 }, commit));
});

test('a merge is not written if retention has removed one of its blocks', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-merging-'));
  const root = openDatabase(join(dataDir, databaseFile));
  onTestFinished(async () => {
    await root.close();
    rmSync(dataDir, { recursive: true });
  });
  const events = new EventStore(root);
  for (const block of smallBlocks(3)) root.transactionSync(() => events.append(block));
  const blocks = () => [...events.rows('network', 1)].map(({ block }) => [block.firstSeq, block.rows]);
  const run = events.smallBlocks('network')[0]!;
  expect(run.firstSeqs).toEqual([1, 2, 3, 4]);
  const merged = events.merged(run);
  root.transactionSync(() => {
    events.dropOldest('network');
    const before = blocks();
    events.replace(run, merged);
    expect(blocks()).toEqual(before);
  });
  const next = events.smallBlocks('network')[0]!;
  expect(next.firstSeqs).toEqual([2, 3, 4]);
  root.transactionSync(() => events.replace(next, events.merged(next)));
  expect(blocks().map(([, rows]) => rows)).toEqual([3, 1, 1, 1, 1, 1, 1, 1, 1]);
});

describe.each([
  ['this thread', undefined],
  ['a thread of its own', blockMergerThread],
])('a merger in %s', (_, openMerger) => {
  test('merges blocks around a damaged block, which is set aside', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candor-merging-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const root = openDatabase(join(folder, databaseFile));
    const events = new EventStore(root);
    root.transactionSync(() => {
      for (const block of smallBlocks(3, 2)) events.append(block);
    });
    const parts = root.openDB<Buffer, number[]>({ name: 'event-parts', encoding: 'binary' });
    const key = [0, 11, 2 * columnIndex.network.get('timestamp')!];
    const part = Buffer.from(parts.get(key)!);
    part[0]! ^= 1;
    await parts.put(key, part);
    await root.close();

    const given = openMerger === undefined ? {} : { openMerger };
    const store = openStore({
      dataDir: folder,
      alertWindowMs: hour,
      scrub: 'by hand',
      projector: noProjector,
      ...given,
    });
    onTestFinished(() => store.close());
    const progress = progressOf(folder);
    // One block on the first day, two around the gap of the second, and the last four, which may still grow.
    await vi.waitFor(() => expect(progress().network).toBe(7), { timeout: 60_000, interval: 5 });
    expect((await store.status()).damage.events).toMatchObject([{ table: 'network', firstSeq: 11, rows: 2 }]);
  });
});

test('blocks are merged while events wait to be processed', async () => {
  const { store, dataDir } = opened({ detectors: () => [new Slow()] });
  const progress = progressOf(dataDir);
  const builder = new BlockBuilder('network', start);
  for (let n = 0; n < limits.maxBlockRows; n++) builder.add(networkRecord({ timestamp: start }));
  const full = builder.finish();
  await store.commitOnly(batchOf([], { blocks: Array.from({ length: 60 }, () => full.slice()) }));
  await store.commitOnly(batchOf([], { blocks: smallBlocks(200) }));
  const before = progress().network;
  // Merging all days takes longer than ten rounds, and processing takes ten seconds.
  await vi.waitFor(() => expect(before - progress().network).toBeGreaterThan(10), { timeout: 60_000, interval: 1 });
  expect((await store.status()).uncounted_events).toBeGreaterThan(0);
});
