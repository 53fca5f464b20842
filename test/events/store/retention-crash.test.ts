import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test, vi } from 'vitest';
import { inspectStore } from '../../../src/store/inspect.ts';
import { openReader } from '../../../src/store/reader.ts';
import { openStore } from '../../../src/store/writer.ts';
import { hour } from '../../store/opened.ts';

const child = new URL('retention-crash-child.ts', import.meta.url).pathname;
const maxBytes = 600 * 1024;

/**
 * Runs the writer until it has acknowledged `acks` batches, waits for a random time, then kills the writer.
 */
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

test('kill -9 during retention: all acknowledged events are stored, or counted as removed if older', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-retention-'));
  /** The first and last acknowledged batch of each run; one more batch may be stored. */
  const runs: [number, number][] = [];
  for (let round = 1; round <= 3; round++) {
    const from = round * 100_000;
    runs.push([from, await runAndKill(dataDir, from, 40)]);
    const { events } = await inspectStore(dataDir, () => undefined);
    expect(events.network).toBeGreaterThan(0);
  }

  const store = openStore({ dataDir, alertWindowMs: hour });
  const reader = openReader(dataDir);
  const { events, lost, head } = reader.replayEvents('network', 0, { terms: [] }, 1_000_000);
  const there = new Set(events.map(({ data }) => data as { duration_ms?: number }).map((one) => one.duration_ms));
  const gone = (await store.status()).retention.expired.reduce((sum, { events }) => sum + events, 0);
  expect(gone).toBe(lost);
  expect(gone).toBeGreaterThan(1000);
  expect(events.length + gone).toBe(head);
  // Every acknowledged batch is stored, except batches before the oldest; the last batch is always stored.
  const oldest = Math.min(...(there as Set<number>));
  for (const [from, last] of runs)
    for (let batch = Math.max(from, oldest); batch <= last; batch++) expect(there.has(batch)).toBe(true);
  expect(there.has(runs.at(-1)![1])).toBe(true);
  const stored = runs.reduce((sum, [from, last]) => sum + last - from + 1, 0);
  expect(head).toBeGreaterThanOrEqual(stored * 100);
  expect(head).toBeLessThanOrEqual((stored + runs.length) * 100);
  // Ids of removed events are not found, even if the kill preceded their removal from the index.
  const idOf = (batch: number) => `${batch.toString(16).padStart(8, '0')}-0000-4000-8000-000000000001`;
  for (const [from, last] of runs)
    for (let batch = from; batch <= last; batch++)
      if (batch !== oldest) expect(reader.getEvent('network', idOf(batch)) !== undefined).toBe(batch > oldest);
  await vi.waitFor(async () => expect((await store.status()).outbox).toBeGreaterThan(0), 60_000);
  reader.close();
  await store.close();
  await inspectStore(dataDir, () => undefined);
  rmSync(dataDir, { recursive: true });
});
