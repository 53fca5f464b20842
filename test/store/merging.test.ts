/** Background merging of event blocks and of the topology. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../src/database/lmdb.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { EventStore } from '../../src/events/store/event-store.ts';
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

/** Returns small blocks, four of each day: they are merged day by day. */
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

test('network blocks, DNS blocks and the topology take turns', async () => {
  const { store, dataDir } = opened({ detectors: () => [], home: ['10.0.0.0/8'] });
  const progress = progressOf(dataDir);
  await store.commit(batchOf([], { blocks: [...smallBlocks(200), ...manyEdges(3), ...lookups()] }));
  await vi.waitFor(() => expect(progress()).toMatchObject({ dns: 1, taken: expect.toSatisfy((n) => n > 0) }), {
    timeout: 60_000,
    interval: 1,
  });
  expect(progress().network).toBeGreaterThan(400);
});

/** Delays timers that are due immediately, with which the store continues to process events. */
function stopProcessing(): void {
  const { setTimeout: start } = globalThis;
  const delayed = (run: () => void, ms: number) => start(run, ms === 0 ? 10 ** 9 : ms);
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(delayed as typeof start);
  onTestFinished(() => spy.mockRestore());
}

test('while events wait to be processed, merging pauses for the duration of four steps, not longer', async () => {
  stopProcessing();
  const { store, dataDir } = opened({ detectors: () => [new Slow()] });
  const progress = progressOf(dataDir);
  await store.commit(batchOf([], { blocks: [...smallBlocks(200), ...manyEdges(3)] }));
  let most = 0;
  for (let window = 0; window < 5 && most <= 11; window++) {
    const before = progress().network;
    await sleep(2000);
    most = Math.max(most, (before - progress().network) / 3);
  }
  expect((await store.status()).uncounted_events).toBeGreaterThan(0);
  // A step takes a few milliseconds. A pause of 200 ms would allow ten steps.
  expect(most).toBeGreaterThan(11);
});
