/**
 * Do batches stay fast, and memory bounded, when the inventory holds 100,000 assets and a million services and edges?
 * Batches of the same shape are added to an almost empty store and to a full store.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { BlockBuilder } from '../src/events/format/block-builder.ts';
import type { NetworkRecord } from '../src/events/records.ts';
import { limits } from '../src/limits.ts';
import { openReader } from '../src/store/reader.ts';
import type { ListQuery, Store } from '../src/store/store.ts';
import { openStore } from '../src/store/writer.ts';
import { connRecords, mulberry32 } from './conn-records.ts';
import type { BenchRow } from './result.ts';

const hosts = 100_000;
const portsOfHost = 10;
const services = hosts * portsOfHost;
/** Number of batches that are timed. */
const timed = 30;
const home = ['10.0.0.0/8'];

export async function run(): Promise<BenchRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-bench-inventory-'));
  const store = openStore({ dataDir, alertWindowMs: 3_600_000, home });
  const batches = new Batches();
  try {
    const rows: BenchRow[] = [];
    await time(store, () => batches.of(() => batches.some(1000)), 10);
    const few = await time(store, () => batches.of(() => batches.some(1000)), timed);
    const began = performance.now();
    for (let from = 0; from < services; from += limits.maxBlockRows)
      await time(store, () => batches.of((row) => (from + row) % services), 1);
    await counted(store);
    const filledMs = performance.now() - began;
    const hot = await time(store, () => batches.of(() => batches.some(1000)), timed);
    const spread = await time(store, () => batches.of(() => batches.some(services)), timed);
    const question = `A batch of ${limits.maxBlockRows.toLocaleString('en')} connections, committed`;
    const knows = `${hosts.toLocaleString('en')} assets, ${services.toLocaleString('en')} services and edges`;
    for (const [variant, times] of [
      ['of 1,000 services, the only ones stored', few],
      [`of 1,000 services, with ${knows}`, hot],
      [`of all services, with ${knows}`, spread],
    ] as const)
      for (const q of [0.5, 0.99])
        rows.push({ question, variant: `${variant}, p${q * 100}`, value: quantile(times, q), unit: 'ms' });
    rows.push({
      question: 'Filling the inventory: every connection a new service, client and edge',
      variant: knows,
      value: Math.round((services / filledMs) * 1000),
      unit: 'events/s',
    });
    rows.push({
      question: 'Anonymous memory of the process (RssAnon)',
      variant: knows,
      value: rssAnon(),
      unit: 'MiB',
    });
    return [...rows, ...(await lists(dataDir))];
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Measures lists that read every row. */
async function lists(dataDir: string): Promise<BenchRow[]> {
  const reader = openReader(dataDir);
  const page: ListQuery = { terms: [], sort: 'last_seen', order: 'desc', page: 1, per_page: 50 };
  const ssh = { ...page, terms: [{ field: 'port', values: [1003] }] };
  const subnet = { ...page, terms: [{ field: 'ip', values: ['10.0.7.0/24'] }] };
  const asked = {
    'assets, newest first': () => reader.listAssets(page),
    'assets of a subnet': () => reader.listAssets(subnet),
    'services, newest first': () => reader.listServices(page),
    'services of a port': () => reader.listServices(ssh),
  };
  try {
    return Object.entries(asked).map(([variant, ask]) => {
      ask();
      const began = performance.now();
      ask();
      return {
        question: 'A page of 50 and the exact total',
        variant,
        value: performance.now() - began,
        unit: 'ms',
      };
    });
  } finally {
    reader.close();
  }
}

/** Waits until the inventory includes all input. Large inputs are processed after the acknowledgement. */
async function counted(store: Store): Promise<void> {
  for (const deadline = performance.now() + 120_000; ; await setTimeout(50)) {
    const { assets, services: known } = await store.status();
    if (assets === hosts && known === services) return;
    if (performance.now() > deadline) throw new Error(`${assets} assets, ${known} services`);
  }
}

/** Returns the time of each commit in milliseconds, in ascending order. */
async function time(store: Store, next: () => ArrayBuffer, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const block = next();
    const rows = limits.maxBlockRows;
    const answer = { accepted: rows, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
    const began = performance.now();
    await store.commit({ blocks: [block], answer });
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b);
}

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;

/** Blocks of established connections between home hosts: service n is a port of host n / 10, with a separate client. */
class Batches {
  readonly #random = mulberry32(5);
  readonly #like: NetworkRecord = [...connRecords(1)][0]!;
  #connections = 0;

  some(among: number): number {
    return Math.floor(this.#random() * among);
  }

  of(service: (row: number) => number): ArrayBuffer {
    const builder = new BlockBuilder('network', Date.UTC(2026, 0, 2));
    for (let row = 0; row < limits.maxBlockRows; row++) {
      const n = service(row);
      const host = Math.floor(n / portsOfHost);
      this.#connections++;
      builder.add({
        ...this.#like,
        timestamp: Date.UTC(2026, 0, 1) + this.#connections,
        src_ip: address((host + 1 + (n % portsOfHost)) % hosts),
        dst_ip: address(host),
        dst_port: 1000 + (n % portsOfHost),
        transport: 'tcp',
        conn_state: 'SF',
        state: 'closed',
        direction: 'internal',
        connection_id: `C${this.#connections}`,
      });
    }
    return builder.finish();
  }
}

const address = (host: number): string => `10.${host >> 16}.${(host >> 8) & 255}.${host & 255}`;

function rssAnon(): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

if (import.meta.main) console.table(await run());
