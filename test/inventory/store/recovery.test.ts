import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Asset } from '../../../src/contract/resources/asset.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { openReader } from '../../../src/store/reader.ts';
import { databaseFile } from '../../../src/store/tables.ts';
import { everything, finding, hour, opened, openProcessed, resources, start } from '../../store/opened.ts';
import { batch, block, counted, countedOfEvents, ssh } from './traffic.ts';

const child = new URL('crash-child.ts', import.meta.url).pathname;

function folder(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-inventory-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  return dataDir;
}

const open = (dataDir: string) => openProcessed({ dataDir, alertWindowMs: hour });

/** Opens the folder again and returns the actual and the expected counts. */
async function reopened(dataDir: string) {
  const store = await open(dataDir);
  const reader = openReader(dataDir);
  const [got, want, status] = [counted(reader), countedOfEvents(reader), await store.status()];
  reader.close();
  await store.close();
  return { got, want, status };
}

async function runAndKill(dataDir: string, from: number, acks: number): Promise<void> {
  const writer = spawn(process.execPath, [child, dataDir, String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const done = new Promise((resolve) => writer.once('close', resolve));
  let acknowledged = 0;
  for await (const _ of createInterface({ input: writer.stdout }))
    if (++acknowledged === acks) setTimeout(() => writer.kill('SIGKILL'), Math.random() * 60);
  await done;
}

test('kill -9 at random moments: every stored event is counted once', async () => {
  const dataDir = folder();
  for (let round = 0; round < 2; round++) {
    await runAndKill(dataDir, (round + 1) * 10_000 + round, 6 + round);
    const { got, want } = await reopened(dataDir);
    expect(Object.keys(want).length).toBeGreaterThan(500);
    expect(got).toEqual(want);
  }
});

describe('a connection that is reported again counts once', () => {
  const report = (src_bytes: number) => ssh({ connection_id: 'CXWfTK3LRdiuQxBbM6', src_bytes });

  test('within a batch, across batches and across a restart', async () => {
    const dataDir = folder();
    const store = await open(dataDir);
    await store.commit(batch([report(1), report(2)]));
    await store.commit(batch([report(3)]));
    await store.close();
    const again = await open(dataDir);
    await again.commit(batch([report(4), ssh({ connection_id: 'another' })]));
    await again.close();
    const { got } = await reopened(dataDir);
    expect(got).toEqual({ '10.0.0.1 22/tcp': { connections: 2, clients: 1 } });
  });
});

test('an event with a known id is not counted again', async () => {
  const { store, reader } = opened();
  const id = '01900000-0000-7000-8000-000000000001';
  await store.commit(batch([ssh({ id })]));
  await store.commit(batch([ssh({ id }), ssh({ dst_port: 80 }), ssh({ id })]));
  await store.commit(batch([ssh({ id })]));
  expect(counted(reader)).toEqual({
    '10.0.0.1 22/tcp': { connections: 1, clients: 1 },
    '10.0.0.1 80/tcp': { connections: 1, clients: 1 },
  });
});

test('an aborted transaction is not counted; committed calls of its group count once', async () => {
  const { store, reader } = opened();
  await store.commit(batch([ssh({ connection_id: 'before' })]));
  // A finding that refers to a missing event is a bug: its call fails in the middle of the group's transaction.
  const broken = batch([ssh({ connection_id: 'lost' })], {
    findings: [finding({ event: { block: 7, row: 0 } })],
  });
  const outcomes = await Promise.allSettled([
    store.commit(batch([ssh({ connection_id: 'before' }), ssh({ connection_id: 'first' })])),
    store.commit(broken),
    store.commit(batch([ssh({ connection_id: 'lost' }), ssh({ connection_id: 'last' })])),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(counted(reader)).toEqual({ '10.0.0.1 22/tcp': { connections: 4, clients: 1 } });
  expect(counted(reader)).toEqual(countedOfEvents(reader));
  expect(await store.status()).toMatchObject({ assets: 1, services: 1 });
});

test('a folder without an inventory gets one when it is opened', async () => {
  const dataDir = folder();
  const store = await open(dataDir);
  for (let i = 0; i < 30; i++)
    await store.commit(
      batch(
        Array.from({ length: 100 }, (_, row) =>
          ssh({ dst_port: 1 + ((i + row) % 50), connection_id: `C${(i + row) % 50} ${row % 100}` }),
        ),
      ),
    );
  const before = openReader(dataDir);
  const want = counted(before);
  before.close();
  await store.close();
  const root = openDatabase(join(dataDir, databaseFile));
  const later = [...root.getKeys()].map(String).filter((name) => /^(asset|service|inventory|topology)/.test(name));
  expect(later).toContain('inventory-state');
  for (const name of later) root.openDB({ name }).dropSync();
  await root.close();
  const again = await reopened(dataDir);
  expect(again.got).toEqual(want);
  expect(again.got).toEqual(again.want);
  expect(again.status).toMatchObject({ assets: 1, services: 50 });
});

test('rows beyond the limit of a commit are written after the pause, and on close', async () => {
  const { store, reader, dataDir } = opened();
  const many = (from: number) =>
    Array.from({ length: 3000 }, (_, i) => ssh({ dst_ip: `10.1.${i >> 8}.${i & 255}`, dst_port: from + (i % 7) }));
  await store.commit(batch(many(1)));
  await store.commit({ ...batch([]), blocks: [block(many(10)), block(many(20))] });
  await expect
    .poll(() => reader.listServices({ terms: [], sort: 'ip', order: 'asc', page: 1, per_page: 1 }).total, {
      timeout: 60_000,
    })
    .toBe(9000);
  await store.commit(batch(many(30)));
  await store.commit(batch(many(40)));
  await store.close();
  const { got, want } = await reopened(dataDir);
  expect(Object.keys(got)).toHaveLength(15_000);
  expect(got).toEqual(want);
});

test('the time last seen is correct across aborted transactions and restarts, for any number of hosts', async () => {
  const { store, dataDir } = opened();
  const last = new Map<string, number>();
  const seen = (from: number, hosts: number, at: number) =>
    block(
      Array.from({ length: hosts }, (_, i) => {
        const dst_ip = `10.1.${(from + i) >> 8}.${(from + i) & 255}`;
        last.set(dst_ip, Math.max(last.get(dst_ip) ?? 0, at));
        return ssh({ dst_ip, timestamp: at });
      }),
    );
  // A sighting of a host forces a write of all rows in memory.
  const sightings = [{ kind: 'host', ip: '10.1.0.0', at: start }] as const;
  const commit = (...blocks: ArrayBuffer[]) => store.commit({ ...batch([], { sightings }), blocks });
  await commit(seen(0, 2500, start));
  await commit(seen(0, 2500, start + 3000));
  const undone = batch([ssh()], { findings: [finding({ event: { block: 7, row: 0 } })] });
  const both = [commit(seen(500, 2000, start + 5000)), store.commit(undone)];
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  await commit(seen(0, 1500, start + 4000));
  await commit(seen(1000, 50, start + 2000));
  await store.close();
  const again = await open(dataDir);
  const reader = openReader(dataDir);
  const assets = resources<Asset>(reader.listAssets({ ...everything, per_page: 10_000 }));
  const got = assets.map(({ attributes: { ip_addresses, last_seen } }) => [ip_addresses[0], last_seen]);
  expect(Object.fromEntries(got)).toEqual(
    Object.fromEntries([...last].map(([ip, at]) => [ip, new Date(at).toISOString()])),
  );
  reader.close();
  await again.close();
});
