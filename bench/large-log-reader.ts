/** `large-log-reader.ts <data folder> <leaves>`: opens the log, asks for proofs, and prints rows of results as JSON. */
import { readFileSync } from 'node:fs';
import { openLedger } from '../src/ledger/open.ts';
import { idOf } from './grown-log.ts';
import type { BenchRow } from './result.ts';

const [dataDir = '', count = ''] = process.argv.slice(2);
const leaves = Number(count);
const before = anonymousMiB();
const began = performance.now();
const ledger = await openLedger({ dataDir });
const head = await ledger.head();
const openMs = performance.now() - began;
if (head.tree_size !== leaves) throw new Error(`${head.tree_size} leaves, not ${leaves}`);

const random = () => Math.floor(Math.random() * (leaves - 1)) + 1;
const hashes: string[] = [];
for (let i = 0; i < 2000; i++) hashes.push((await ledger.leaf({ leaf_index: random() })).leaf_hash);
const proofs = [
  ['inclusion by index', () => ledger.inclusion({ leaf_index: random() })],
  ['consistency with the current size', () => ledger.consistency(random(), leaves)],
  ['inclusion by entry id', () => ledger.inclusion({ entry_id: idOf(random()) })],
  ['inclusion by leaf hash', (i: number) => ledger.inclusion({ leaf_hash: hashes[i % hashes.length]! })],
] as const;

const rows: BenchRow[] = [
  {
    question: 'Start of the ledger: opened, verified, head read',
    variant: 'one start',
    value: openMs,
    unit: 'ms',
  },
];
for (const [name, prove] of proofs) {
  const times: number[] = [];
  for (let i = 0; i < 20_000; i++) {
    const start = performance.now();
    await prove(i);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  for (const q of [0.5, 0.99]) {
    const value = times[Math.floor(times.length * q)] ?? Number.NaN;
    const goal = q === 0.99 ? { note: 'goal: 1 ms' } : {};
    rows.push({
      question: `A proof in the ledger's thread`,
      variant: `${name}, p${q * 100}`,
      value,
      unit: 'ms',
      ...goal,
    });
  }
}
rows.push({
  question: 'Anonymous memory that the ledger takes (RssAnon)',
  variant: 'after 80,000 proofs',
  value: anonymousMiB() - before,
  unit: 'MiB',
});
await ledger.close();
process.stdout.write(JSON.stringify(rows));

function anonymousMiB(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
