import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BlockBuilder } from '../../src/events/block-builder.ts';
import { supervise } from '../../src/rpc/supervise.ts';
import { openReader } from '../../src/store/lmdb/reader.ts';
import { storeMethods } from '../../src/store/methods.ts';
import type { Store } from '../../src/store/store.ts';
import { analyst, batchOf, finding, hour } from './opened.ts';
import { networkRecord } from './records.ts';

test('the store in its own thread: blocks are moved there and back, refusals keep their codes, readers see the commit', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-store-'));
  const store = await supervise<Store>({
    name: 'store',
    url: new URL('../../workers/store.ts', import.meta.url),
    list: storeMethods,
    workerData: { dataDir, alertWindowMs: hour },
    onGiveUp: (error) => {
      throw error;
    },
  });
  const reader = openReader(dataDir);
  const builder = new BlockBuilder('network', 0);
  builder.add(networkRecord());
  const block = builder.finish();
  const size = block.byteLength;
  const committed = await store.api.commit(
    batchOf([finding({ severity: 'high', event: { block: 0, row: 0 } })], { blocks: [block] }),
  );
  expect(block.detached).toBe(true);
  expect(committed.blocks[0]?.buffer.byteLength).toBe(size);
  const { id, event_ids } = committed.alerts[0]!.alert;
  expect(reader.getAlert(id)?.count).toBe(1);
  expect(reader.getEvent('network', event_ids[0]!)).toBeDefined();
  await expect(store.api.changeAlert(id, { status: 'archived' }, analyst)).rejects.toMatchObject({
    code: 'INVALID_TRANSITION',
    details: { from: 'new', to: 'archived', allowed: ['in_progress', 'resolved', 'suppressed'] },
  });
  const calls = Array.from({ length: 50 }, (_, i) => store.api.addNote(id, `note ${i}`, analyst));
  expect((await Promise.all(calls)).map(({ update }) => update.seq)).toEqual(calls.map((_, i) => i + 2));
  expect(reader.listNotes(id, 1, 50).total).toBe(50);
  reader.close();
  await store.api.close();
  await store.close();
  rmSync(dataDir, { recursive: true });
});
