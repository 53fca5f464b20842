/** How long do the dashboard and the trends take, with a hundred thousand events and with millions? */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Queries } from '../src/analytics/queries.ts';
import { type Window, windows } from '../src/contract/vocabulary.ts';
import { openBlock } from '../src/events/format/block.ts';
import { BlockBuilder } from '../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../src/events/records.ts';
import type { FlowFact } from '../src/inventory/model/seen.ts';
import { EventFold } from '../src/rollups/model/event-fold.ts';
import { KeyedHash } from '../src/rollups/model/keyed-hash.ts';
import { createPool } from '../src/rpc/pool.ts';
import { workerUrl } from '../src/rpc/worker-url.ts';
import { databaseFile } from '../src/store/tables.ts';
import { openStore } from '../src/store/writer.ts';
import { connRecords } from './conn-records.ts';
import type { BenchRow } from './result.ts';

const dayMs = 24 * 3_600_000;
const times = 40;

export async function run(few = 100_000, many = 5_000_000): Promise<BenchRow[]> {
  return [...folding(), ...(await asked(few)), ...(await asked(many))];
}

/** Stores events of the last thirty days, and measures both operations in the worker pool that runs them. */
async function asked(events: number): Promise<BenchRow[]> {
  const question = `Dashboard and trends of ${events.toLocaleString('en')} events of thirty days`;
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-dashboard-'));
  const rows: BenchRow[] = [];
  try {
    const before = process.memoryUsage.rss();
    const began = performance.now();
    await fill(dataDir, events);
    const perEvent = ((performance.now() - began) * 1000) / events;
    rows.push({ question, variant: 'storing and counting, one thread', value: perEvent, unit: 'µs/event' });
    const file = statSync(join(dataDir, databaseFile)).size / 2 ** 20;
    rows.push({ question, variant: 'file', value: file, unit: 'MB' });
    const pool = createPool<Queries>({
      name: 'analytics',
      url: workerUrl('analytics'),
      threads: 1,
      maxQueue: 16,
      workerData: { dataDir },
      onWorkerLost: (error) => {
        throw error;
      },
    });
    for (const operation of ['dashboard', 'trends'] as const)
      for (const window of windows)
        rows.push(...(await timed(`${operation}, ${window}`, question, () => ask(pool, operation, window))));
    const memory = (process.memoryUsage.rss() - before) / 2 ** 20;
    rows.push({
      question,
      variant: 'memory of writer and reader',
      value: memory,
      unit: 'MB',
      note: 'RSS, with the map',
    });
    await pool.close();
  } finally {
    rmSync(dataDir, { recursive: true });
  }
  return rows;
}

/** Returns the bytes of the response. */
async function ask(
  pool: ReturnType<typeof createPool<Queries>>,
  operation: 'dashboard' | 'trends',
  window: Window,
): Promise<number> {
  const ingest = { accepted: 0, rejected: 0, ignored: 0 };
  return (await pool.run(operation, { window, now: Date.now(), ledger_size: 0, ingest })).length;
}

async function timed(variant: string, question: string, work: () => Promise<number>): Promise<BenchRow[]> {
  const took: number[] = [];
  let bytes = 0;
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    bytes = await work();
    took.push(performance.now() - began);
  }
  took.sort((a, b) => a - b);
  return [
    {
      question,
      variant: `${variant}, p50`,
      value: took[times / 2]!,
      unit: 'ms',
      note: `${bytes} bytes of JSON`,
    },
    { question, variant: `${variant}, p95`, value: took[Math.ceil(0.95 * times) - 1]!, unit: 'ms' },
  ];
}

async function fill(dataDir: string, events: number): Promise<void> {
  const store = openStore({ dataDir, alertWindowMs: 3_600_000, home: ['10.0.0.0/8'] });
  const now = Date.now();
  const builder = new BlockBuilder('network', now);
  const flush = async () => {
    const rows = builder.rows;
    const answer = { accepted: rows, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
    await store.commit({ blocks: [builder.finish()], answer });
  };
  let i = 0;
  for (const record of connRecords(events)) {
    record.timestamp = now - 30 * dayMs + Math.floor((30 * dayMs * i++) / events);
    builder.add(record);
    if (builder.full) await flush();
  }
  if (builder.rows > 0) await flush();
  await store.close();
}

/** Measures the time to add an event to the statistics, as part of the work on a batch. */
function folding(): BenchRow[] {
  const question = 'Cost of counting an event, in batches of one block';
  const now = Date.UTC(2026, 0, 1, 1);
  const kinds = {
    'a site of 400 clients': () => {},
    'a flood of addresses': (record: Ends, i: number) => {
      record.src_ip = `${1 + ((i >>> 16) & 127)}.${(i >>> 8) & 255}.${i & 255}.${(i * 7) & 255}`;
      record.dst_ip = `2001:db8::${(i >>> 16).toString(16)}:${(i & 0xffff).toString(16)}`;
    },
  };
  const fact = { bytes: 100, answered: true, connections: 1 } as FlowFact;
  return Object.entries(kinds).map(([variant, change]) => {
    const buffers = [...builtBlocks(now, change)];
    let least = Number.POSITIVE_INFINITY;
    let note = '';
    for (let i = 0; i < times; i++) {
      const blocks = buffers.map((buffer) => openBlock(buffer, 1));
      const rows = blocks.reduce((sum, block) => sum + block.rows, 0);
      const [srcs, dsts] = (['src_ip', 'dst_ip'] as const).map((end) => blocks[0]!.addresses(end).list.length);
      note = `CPU; ${srcs} originators and ${dsts} responders in ${blocks[0]!.rows} events`;
      const fold = new EventFold(new KeyedHash([1, 2]), () => now);
      const began = process.cpuUsage();
      for (const block of blocks) {
        fold.begin(block, 0);
        for (let row = 0; row < block.rows; row++) fold.flow(fact);
        fold.end();
      }
      const { user, system } = process.cpuUsage(began);
      least = Math.min(least, (user + system) / rows);
    }
    return { question, variant, value: least, unit: 'µs/event', note };
  });
}

type Ends = Pick<NetworkRecord, 'src_ip' | 'dst_ip'>;

function* builtBlocks(now: number, change: (record: Ends, i: number) => void): Generator<ArrayBuffer> {
  const builder = new BlockBuilder('network', now);
  let i = 0;
  for (const record of connRecords(65_280)) {
    change(record, i++);
    builder.add(record);
    if (builder.full) yield builder.finish();
  }
}
