/**
 * `large-log-reader.ts <data folder> <leaves>`: opens the log, requests proofs, and prints rows of results as JSON.
 * Cold means that no part of the file is in the system's cache: a proof then waits for the disk, and for the system's
 * read-ahead (`/sys/block/…/queue/read_ahead_kb`). Warm means that the whole file was read immediately before.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLedger } from '../src/ledger/open.ts';
import { idOf } from './grown-log.ts';
import type { BenchRow } from './result.ts';

type Ledger = Awaited<ReturnType<typeof openLedger>>;

const [dataDir = '', count = ''] = process.argv.slice(2);
const leaves = Number(count);
const file = join(dataDir, 'ledger.mdb');
const asked = 20_000;
const before = anonymousMiB();
let mostMiB = 0;
const starts: BenchRow[] = [];
const rows: BenchRow[] = [];
const random = () => Math.floor(Math.random() * (leaves - 1)) + 1;
const hashes = await someHashes();
const proofs = [
  ['inclusion by index', (ledger: Ledger) => ledger.inclusion({ leaf_index: random() })],
  ['consistency with the current size', (ledger: Ledger) => ledger.consistency(random(), leaves)],
  ['inclusion by entry id', (ledger: Ledger) => ledger.inclusion({ entry_id: idOf(random()) })],
  [
    'inclusion by leaf hash',
    (ledger: Ledger, i: number) => ledger.inclusion({ leaf_hash: hashes[i % hashes.length]! }),
  ],
] as const;

for (const cache of ['cold', 'warm'] as const) {
  let slowestMs = 0;
  for (const [name, prove] of proofs) {
    prepare(cache);
    const began = performance.now();
    const ledger = await openLedger({ dataDir });
    const head = await ledger.head();
    slowestMs = Math.max(slowestMs, performance.now() - began);
    if (head.tree_size !== leaves) throw new Error(`${head.tree_size} leaves, not ${leaves}`);
    rows.push(...(await timed(`${name}, ${cache}`, (i) => prove(ledger, i))));
    mostMiB = Math.max(mostMiB, anonymousMiB());
    await ledger.close();
  }
  starts.push({
    question: 'Start of the ledger: opened, verified, head read',
    variant: `the slowest of ${proofs.length}, ${cache}`,
    value: slowestMs,
    unit: 'ms',
  });
}
const memory: BenchRow = {
  question: 'Anonymous memory of the ledger (RssAnon)',
  variant: `the maximum after each ${asked.toLocaleString('en')} proofs`,
  value: mostMiB - before,
  unit: 'MiB',
};
process.stdout.write(JSON.stringify([...starts, ...rows, memory]));

async function timed(name: string, prove: (i: number) => Promise<unknown>): Promise<BenchRow[]> {
  const times: number[] = [];
  for (let i = 0; i < asked; i++) {
    const start = performance.now();
    await prove(i);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return [0.5, 0.99].map((q) => ({
    question: `A proof in the ledger's thread`,
    variant: `${name}, p${q * 100}`,
    value: times[Math.floor(times.length * q)] ?? Number.NaN,
    unit: 'ms',
    ...(q === 0.99 ? { note: 'goal: 1 ms' } : {}),
  }));
}

async function someHashes(): Promise<string[]> {
  const ledger = await openLedger({ dataDir });
  const found: string[] = [];
  for (let i = 0; i < asked; i++) found.push((await ledger.leaf({ leaf_index: random() })).leaf_hash);
  await ledger.close();
  return found;
}

/**
 * Removes the file from the system's cache (GNU dd, with POSIX_FADV_DONTNEED), or reads the file into the cache.
 * For the removal, no process may have the file open.
 */
function prepare(cache: 'cold' | 'warm'): void {
  const forget = [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none'];
  const read = [`if=${file}`, 'of=/dev/null', 'bs=1M', 'status=none'];
  execFileSync('dd', cache === 'cold' ? forget : read);
}

function anonymousMiB(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
