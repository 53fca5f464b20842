/**
 * How many proofs per second does the service return over HTTP? Inclusion and consistency proofs of a log of 300,000
 * leaves are requested on 64 connections by a process that shares the cores.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { login, type Service, startService } from '../scripts/service.ts';
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
      rows.push(...(await appendToProvable(service, seconds)));
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
      note: 'goal: 10,000, with the load generator on the same two cores',
    },
    { question, variant: `${kind}, p50`, value: p50Ms, unit: 'ms' },
    { question, variant: `${kind}, p99`, value: p99Ms, unit: 'ms' },
    {
      question,
      variant: `${kind}, CPU of the service per proof`,
      value: (cpu / requests) * 1e6,
      unit: 'µs',
      note: 'main thread and ledger together; more meaningful than the rate on a shared machine',
    },
  ];
}

/** Anonymous proofs per second during the measurement of appends. */
const proofsPerSecond = 5000;

/**
 * Measures the time from sending an event that raises an alert until a head covers its entry, with and without
 * anonymous readers.
 */
async function appendToProvable(service: Service, seconds: number): Promise<BenchRow[]> {
  const headers = { authorization: `Bearer ${await login(service)}`, 'content-type': 'application/x-ndjson' };
  const sizeNow = async () => {
    const answer = await fetch(`${service.url}/api/transparency/sth`);
    return ((await answer.json()) as { tree_size: number }).tree_size;
  };
  let signature = 0;
  const measure = async (): Promise<number[]> => {
    const times: number[] = [];
    const until = performance.now() + seconds * 1000;
    while (performance.now() < until) {
      const before = await sizeNow();
      const began = performance.now();
      const body = alertLine(++signature);
      const answer = await fetch(`${service.url}/api/v1/ingest`, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(`ingest answered ${answer.status}`);
      while ((await sizeNow()) === before);
      times.push(performance.now() - began);
    }
    return times;
  };
  await measure();
  const alone = await measure();
  const args = [load, new URL(service.url).port, 'inclusion', String(leaves), String(connections)];
  const readers = promisify(execFile)(process.execPath, [...args, String(seconds + 1), String(proofsPerSecond)]);
  const loaded = await measure();
  const { requests, seconds: took } = JSON.parse((await readers).stdout) as {
    requests: number;
    seconds: number;
  };
  const question = 'From an event that raises an alert to a head that covers its entry';
  const rows = (variant: string, times: number[], note: string): BenchRow[] => {
    const sorted = times.toSorted((a, b) => a - b);
    return [0.5, 0.99].map((q) => ({
      question,
      variant: `${variant}, p${q * 100}`,
      value: sorted[Math.floor(sorted.length * q)] ?? Number.NaN,
      unit: 'ms',
      note,
    }));
  };
  return [
    ...rows('no readers', alone, 'one sender'),
    ...rows('anonymous readers', loaded, `${Math.round(requests / took)} proofs/s were answered at the same time`),
  ];
}

/** Returns a Suricata alert with a unique signature, so that it raises a new alert. */
const alertLine = (signature_id: number): string =>
  JSON.stringify({
    timestamp: new Date().toISOString(),
    event_type: 'alert',
    ...{
      flow_id: signature_id,
      src_ip: '10.0.0.1',
      src_port: 1,
      dest_ip: '10.0.0.2',
      dest_port: 2,
      proto: 'TCP',
    },
    alert: { gid: 1, signature_id, rev: 1, signature: `Signature ${signature_id}`, severity: 1 },
  });

/**
 * Returns user and system time of all threads so far (proc_pid_stat(5), fields 14 and 15, in hundredths of a second).
 */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

if (import.meta.main) console.table(await run());
