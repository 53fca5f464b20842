import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ledgerCounters, ledgerMethods } from '../../src/ledger/methods.ts';
import { createCounters } from '../../src/rpc/counters.ts';
import { supervise } from '../../src/rpc/supervise.ts';
import { codeOf, entries, entry, folder } from './fixture.ts';

const list = ledgerMethods;

test('the ledger serves calls from a separate thread, and updates counters', async () => {
  const dataDir = folder();
  const counters = createCounters(ledgerCounters);
  const worker = await supervise({
    name: 'ledger',
    url: new URL('../../workers/ledger.ts', import.meta.url),
    list,
    workerData: { dataDir, anchorPath: join(dataDir, 'elsewhere.json'), counters: counters.buffer },
    onGiveUp: () => {},
  });
  const ledger = worker.api;
  const appended = await Promise.all([ledger.append(entries(0, 3)), ledger.append([entry(3)])]);
  expect(appended.flat().map((a) => a.leaf_index)).toEqual([0, 1, 2, 3]);
  expect((await ledger.inclusion({ entry_id: entry(2).id })).audit_path).toHaveLength(2);
  expect((await ledger.leaf({ leaf_index: 0 })).canonical).toBeInstanceOf(Uint8Array);
  const [tile, bundle, page] = await Promise.all([
    ledger.tile({ level: 0, index: 0, width: 3 }),
    ledger.entryBundle(0, 4),
    ledger.entries({ kinds: ['alert.raised'], page: 2, per_page: 3 }),
  ]);
  expect([tile.buffer.byteLength, page.total, page.leaves[0]?.leaf_index]).toEqual([96, 4, 3]);
  expect(Buffer.from(bundle).subarray(-page.leaves[0]!.canonical.length)).toEqual(
    Buffer.from(page.leaves[0]!.canonical),
  );
  expect(await codeOf(ledger.head(99))).toBe('NOT_FOUND');
  expect(counters.read()).toMatchObject({ entries: 4, size: 4, proofs: 1, degraded: 0 });
  await ledger.close();
  await worker.close();
});

test('a failed flush ends the thread, which recovers as after a crash, and repeated entries are appended once', async () => {
  const dataDir = folder();
  const deaths: Error[] = [];
  const worker = await supervise({
    name: 'ledger',
    url: new URL('./failing-worker.ts', import.meta.url),
    list,
    workerData: { dataDir },
    onGiveUp: () => {},
    onRestart: (error) => deaths.push(error),
  });
  await worker.api.append([entry(0)]);
  writeFileSync(join(dataDir, 'fail'), '');
  expect(await codeOf(worker.api.append([entry(1)]))).toBe('WORKER_LOST');
  const retry = async (): Promise<number> => {
    try {
      return (await worker.api.append([entry(1)]))[0]!.leaf_index;
    } catch (error) {
      expect((error as { code?: string }).code).toMatch(/^(UNAVAILABLE|WORKER_LOST)$/);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return retry();
    }
  };
  expect(await retry()).toBe(1);
  expect((await worker.api.status()).size).toBe(2);
  expect(deaths.map((error) => error.message)).toEqual([expect.stringContaining('the flush failed')]);
  await worker.api.close();
  await worker.close();
});
