/**
 * How many proofs does the service give over HTTP? Inclusion and consistency on a log of 300,000 leaves, asked for on
 * 64 connections by a process of its own that shares the cores.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Service, startService } from '../scripts/service.ts';
import { growLog } from './grown-log.ts';
import type { BenchRow } from './result.ts';

const leaves = 300_000;
const connections = 64;
const load = new URL('./proof-load.ts', import.meta.url).pathname;

export async function run(seconds = 5): Promise<BenchRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-bench-proofs-'));
  try {
    await growLog(dataDir, leaves);
    const service = await startService({ dataDir });
    try {
      const rows: BenchRow[] = [];
      for (const kind of ['inclusion', 'consistency']) rows.push(...(await ask(service, kind, seconds)));
      return rows;
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function ask({ url, pid }: Service, kind: string, seconds: number): Promise<BenchRow[]> {
  const call = async (duration: number) => {
    const args = [load, new URL(url).port, kind, String(leaves), String(connections), String(duration)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return JSON.parse(stdout) as Record<'requests' | 'seconds' | 'p50Ms' | 'p99Ms' | 'failures', number>;
  };
  await call(1);
  const cpuBefore = cpuSeconds(pid);
  const { requests, seconds: took, p50Ms, p99Ms, failures } = await call(seconds);
  const cpu = cpuSeconds(pid) - cpuBefore;
  if (failures > 0) throw new Error(`${failures} of ${requests} requests for ${kind} failed`);
  const question = `Proofs over HTTP from a log of ${leaves.toLocaleString('en')} leaves, ${connections} connections`;
  return [
    {
      question,
      variant: kind,
      value: Math.round(requests / took),
      unit: 'proofs/s',
      note: 'goal: 10,000, with what asks on the same two cores',
    },
    { question, variant: `${kind}, p50`, value: p50Ms, unit: 'ms' },
    { question, variant: `${kind}, p99`, value: p99Ms, unit: 'ms' },
    {
      question,
      variant: `${kind}, CPU of the service for one`,
      value: (cpu / requests) * 1e6,
      unit: 'µs',
      note: 'main thread and ledger together; says more than the rate where others use the machine too',
    },
  ];
}

/** User and system time of all threads so far (proc_pid_stat(5), fields 14 and 15, in hundredths of a second). */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

if (import.meta.main) console.table(await run());
