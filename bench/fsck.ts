/**
 * How fast is a log derived from its entries? Measures leaves per second of `candor fsck` with one thread and with all
 * threads, on a log whose heads cover 2,000 leaves each. Also measures a rebuild from a damaged file.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsck } from '../src/ledger/check/fsck.ts';
import { rebuild } from '../src/ledger/check/rebuild.ts';
import { growLog } from './grown-log.ts';
import type { BenchRow } from './result.ts';

export async function run(leaves = 1_000_000): Promise<BenchRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-bench-fsck-'));
  try {
    await growLog(dataDir, leaves);
    const question = `Deriving a log of ${leaves.toLocaleString('en')} leaves again from entries of 700 bytes`;
    const rows: BenchRow[] = [];
    for (const threads of [1, availableParallelism() + 1]) {
      const { ok, elapsedMs } = await fsck({ dataDir, threads });
      if (!ok) throw new Error('the log is not whole');
      const value = Math.round((leaves / elapsedMs) * 1000);
      const note = threads === 1 ? {} : { note: 'goal: 300,000' };
      rows.push({ question, variant: `fsck, threads: ${threads}`, value, unit: 'leaves/s', ...note });
    }
    tearMetaPage(join(dataDir, 'ledger.mdb'));
    const start = performance.now();
    const { outcome } = await rebuild({ dataDir });
    if (outcome !== 'rebuilt') throw new Error(`the log was not rebuilt, but ${outcome}`);
    const value = Math.round((leaves / (performance.now() - start)) * 1000);
    rows.push({ question, variant: 'rebuild, including checks before and after', value, unit: 'leaves/s' });
    return rows;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Overwrites a meta page with zeros: the smallest damage that requires a rewrite of the whole file. */
function tearMetaPage(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4096), 0, 4096, 0);
  closeSync(file);
}

if (import.meta.main) console.table(await run());
