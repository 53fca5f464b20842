/** Background merging of event blocks and of the topology. */
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../src/database/lmdb.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { EventStore } from '../../src/events/store/event-store.ts';
import { limits } from '../../src/limits.ts';
import { databaseFile, openTables } from '../../src/store/tables.ts';
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
const smallBlocks = (days: number) =>
  Array.from({ length: 4 * days }, (_, n) => {
    const builder = new BlockBuilder('network', start - 24 * hour * (n >> 2));
    builder.add(networkRecord({ timestamp: start + n }));
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

test('merging alternates between network blocks, DNS blocks and the topology', async () => {
  const { store, dataDir } = opened({ detectors: () => [], home: ['10.0.0.0/8'] });
  const progress = progressOf(dataDir);
  await store.commit(batchOf([], { blocks: [...smallBlocks(200), ...manyEdges(3), ...lookups()] }));
  await vi.waitFor(() => expect(progress()).toMatchObject({ dns: 1, taken: expect.toSatisfy((n) => n > 0) }), {
    timeout: 60_000,
    interval: 1,
  });
  expect(progress().network).toBeGreaterThan(400);
});

test('blocks are merged while events wait to be processed', async () => {
  const { store, dataDir } = opened({ detectors: () => [new Slow()] });
  const progress = progressOf(dataDir);
  const builder = new BlockBuilder('network', start);
  for (let n = 0; n < limits.maxBlockRows; n++) builder.add(networkRecord({ timestamp: start }));
  const full = builder.finish();
  await store.commit(batchOf([], { blocks: smallBlocks(200) }));
  await store.commitOnly(batchOf([], { blocks: Array.from({ length: 60 }, () => full.slice()) }));
  const before = progress().network;
  // Merging all days takes 200 steps, and processing takes ten seconds.
  await vi.waitFor(() => expect(before - progress().network).toBeGreaterThan(60), { timeout: 60_000, interval: 1 });
  expect((await store.status()).uncounted_events).toBeGreaterThan(0);
});
