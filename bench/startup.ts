/** How long does a start take with millions of stored events? Measured from `start` to the log line `listening`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { login, startService } from '../scripts/service.ts';
import { openDatabase } from '../src/database/lmdb.ts';
import { BlockBuilder } from '../src/events/format/block-builder.ts';
import { EventStore } from '../src/events/store/event-store.ts';
import { connRecords } from './conn-records.ts';
import { type BenchRow, rowOfRounds } from './result.ts';

export async function run(events = 5_000_000, starts = 5): Promise<BenchRow[]> {
  const question = `Start with ${events.toLocaleString('en')} stored events, to listening`;
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-startup-'));
  try {
    const empty = await timedStarts(dataDir, starts, 0);
    await fill(dataDir, events);
    const [cold = 0, ...warm] = await timedStarts(dataDir, starts, events);
    const row = (variant: string, times: readonly number[]) =>
      rowOfRounds({ question, variant, unit: 'ms' }, times, Math.round);
    return [
      row('no events, after the first start', empty.slice(1)),
      row('first start', [cold]),
      row('later starts', warm),
    ];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Returns milliseconds of each start, including runtime and launcher. Checks that all events are there after each
 * start.
 */
async function timedStarts(dataDir: string, starts: number, events: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < starts; n++) {
    const began = performance.now();
    const service = await startService({ dataDir });
    times.push(performance.now() - began);
    const headers = { authorization: `Bearer ${await login(service)}` };
    const response = await fetch(`${service.url}/api/v1/events/network?per_page=1`, { headers });
    const { pagination } = (await response.json()) as { pagination: { total: number } };
    await service.stop();
    if (pagination.total !== events) throw new Error(`${pagination.total} events, wanted ${events}`);
  }
  return times;
}

/** Stores blocks of network events, as ingest would. */
export async function fill(dataDir: string, events: number): Promise<void> {
  const env = openDatabase(join(dataDir, 'siem.mdb'));
  const store = new EventStore(env);
  const builder = new BlockBuilder('network', Date.now());
  const flush = () => env.transactionSync(() => store.append(builder.finish()));
  for (const record of connRecords(events)) {
    builder.add(record);
    if (builder.full) flush();
  }
  if (builder.rows > 0) flush();
  await env.close();
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 5_000_000)));
