import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test, vi } from 'vitest';
import { inspectStore } from '../../src/store/lmdb/inspect.ts';
import { openReader } from '../../src/store/lmdb/reader.ts';
import { openStore } from '../../src/store/lmdb/store.ts';
import { hour } from './opened.ts';

const child = new URL('retention-crash-child.ts', import.meta.url).pathname;
const maxBytes = 600 * 1024;

/** Runs the writer until it has acknowledged `acks` batches, and for a random time more; then kills it. */
async function runAndKill(dataDir: string, from: number, acks: number): Promise<number> {
  const writer = spawn(process.execPath, [child, dataDir, String(from), String(maxBytes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = from - 1;
  const done = new Promise((resolve) => writer.once('close', resolve));
  for await (const line of createInterface({ input: writer.stdout })) {
    last = Number(line);
    if (last === from + acks) setTimeout(() => writer.kill('SIGKILL'), Math.random() * 40);
  }
  await done;
  return last;
}

test('kill -9 during retention: acknowledged events are stored from the oldest on, and earlier ones are in the account', {
  timeout: 120_000,
}, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-retention-'));
  /** First and last batch that was acknowledged in each run; one more may be stored. */
  const runs: [number, number][] = [];
  for (let round = 1; round <= 6; round++) {
    const from = round * 100_000;
    runs.push([from, await runAndKill(dataDir, from, 40)]);
    const { events } = await inspectStore(dataDir, () => undefined);
    expect(events.network).toBeGreaterThan(0);
  }

  const store = openStore({ dataDir, alertWindowMs: hour });
  const reader = openReader(dataDir);
  const { events, lost, head } = reader.replayEvents('network', 0, { terms: [] }, 1_000_000);
  const there = new Set(
    events.map(({ data }) => data as { duration_ms?: number }).map((one) => one.duration_ms),
  );
  const gone = (await store.status()).retention.expired.reduce((sum, { events }) => sum + events, 0);
  expect(gone).toBe(lost);
  expect(gone).toBeGreaterThan(1000);
  expect(events.length + gone).toBe(head);
  // Every acknowledged batch is stored, except those before the oldest; the very last one is.
  const oldest = Math.min(...(there as Set<number>));
  for (const [from, last] of runs)
    for (let batch = Math.max(from, oldest); batch <= last; batch++) expect(there.has(batch)).toBe(true);
  expect(there.has(runs.at(-1)![1])).toBe(true);
  const stored = runs.reduce((sum, [from, last]) => sum + last - from + 1, 0);
  expect(head).toBeGreaterThanOrEqual(stored * 100);
  expect(head).toBeLessThanOrEqual((stored + runs.length) * 100);
  // No id of a removed event is found, whether it was removed from the index before the kill or not.
  const idOf = (batch: number) => `${batch.toString(16).padStart(8, '0')}-0000-4000-8000-000000000001`;
  for (const [from, last] of runs)
    for (let batch = from; batch <= last; batch++)
      if (batch !== oldest)
        expect(reader.getEvent('network', idOf(batch)) !== undefined).toBe(batch > oldest);
  await vi.waitFor(async () => expect((await store.status()).outbox).toBeGreaterThan(0));
  reader.close();
  await store.close();
  await inspectStore(dataDir, () => undefined);
  rmSync(dataDir, { recursive: true });
});
