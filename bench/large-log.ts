/**
 * How much does a log of ten million leaves cost? Measures bytes on disk, time to start, time to check, memory, and the
 * time of a proof, and compares them with those of a log a hundredth the size. (`CANDOR_BENCH_LEAVES` sets
 * another number.)
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsck } from '../src/ledger/check/fsck.ts';
import { growLog } from './grown-log.ts';
import type { BenchRow } from './result.ts';

const large = Number(process.env.CANDOR_BENCH_LEAVES ?? 10_000_000);
const reader = new URL('./large-log-reader.ts', import.meta.url).pathname;

export async function run(): Promise<BenchRow[]> {
  return [...(await measure(large / 100)), ...(await measure(large))];
}

async function measure(leaves: number): Promise<BenchRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-bench-large-'));
  const of = `${leaves.toLocaleString('en')} leaves`;
  try {
    const began = performance.now();
    await growLog(dataDir, leaves);
    const perSecond = (leaves / (performance.now() - began)) * 1000;
    const bytes = statSync(join(dataDir, 'ledger.mdb')).size;
    // Uses a separate process, so that its memory is that of a reader alone.
    const shown = execFileSync(process.execPath, [reader, dataDir, String(leaves)], { encoding: 'utf8' });
    const read = JSON.parse(shown) as BenchRow[];
    const report = await fsck({ dataDir });
    if (!report.ok || report.size !== leaves) throw new Error(`fsck: ${JSON.stringify(report.findings)}`);
    return [
      { question: 'Growing a log', variant: of, value: Math.round(perSecond), unit: 'leaves/s' },
      {
        question: 'Size of ledger.mdb',
        variant: of,
        value: bytes / leaves,
        unit: 'bytes a leaf',
        note: 'entries of 700 bytes',
      },
      ...read.map((row) => ({ ...row, variant: `${of}, ${row.variant}` })),
      {
        question: 'fsck: the whole tree derived from the entries',
        variant: of,
        value: Math.round((leaves / report.elapsedMs) * 1000),
        unit: 'leaves/s',
        note: 'goal: 300,000',
      },
    ];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

if (import.meta.main) console.table(await run());
