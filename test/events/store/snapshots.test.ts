import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { connRecords } from '../../../bench/conn-records.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { EventStore } from '../../../src/events/store/event-store.ts';
import { mergeSmall } from './merge-small.ts';

it('another thread reads whole snapshots while blocks are appended and merged', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-snapshots-'));
  const path = join(folder, 'siem.mdb');
  const env = openDatabase(path);
  const writer = new EventStore(env);
  const last = 6000;
  const thread = new Worker(new URL('./reading-thread.ts', import.meta.url), { workerData: { path, last } });
  await once(thread, 'message');
  const result = once(thread, 'message');
  const builder = new BlockBuilder('network', 0);
  let seq = 0;
  for (const record of connRecords(last)) {
    builder.add({ ...record, connection_id: `C${++seq}` });
    if (seq % 20 !== 0) continue;
    env.transactionSync(() => writer.append(builder.finish()));
    if (seq % 100 === 0) mergeSmall(writer, 'network');
    await setImmediate();
  }
  const [{ reads, wrong }] = (await result) as [{ reads: number; wrong: string[] }];
  expect(wrong).toEqual([]);
  expect(reads).toBeGreaterThan(1);
  await thread.terminate();
  await env.close();
  rmSync(folder, { recursive: true });
});
