/**
 * How soon is an event in the log and provable? Measures durable appends per second with the returned proof, the time
 * from append to proof at half that load, the log alone for signed entries, and proofs from a large log. Compares them
 * with the disk's flush time, on which all of them depend.
 */
import { hash } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 as nobleSha256 } from '../src/client/sha256.ts';
import { sha256 } from '../src/crypto/sha256.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import { ledgerMethods } from '../src/ledger/methods.ts';
import { Prover } from '../src/ledger/reads/prover.ts';
import { TileDigests } from '../src/ledger/reads/tile-digests.ts';
import { readEntryBundle, readTile } from '../src/ledger/reads/tiles.ts';
import { VerifiedNodes } from '../src/ledger/reads/verified-nodes.ts';
import type { LedgerStorage } from '../src/ledger/storage/storage.ts';
import { supervise } from '../src/rpc/supervise.ts';
import { pageColumns } from '../src/tlog/page.ts';
import { beginLog, idOf, newEntry } from './grown-log.ts';
import type { BenchRow } from './result.ts';

/** Number of callers that wait for a proof before they append again: the concurrency of a busy service. */
const callers = 256;

export async function run(seconds = 6): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-bench-ledger-'));
  try {
    return [
      ...flushes(folder, 300),
      ...(await appends(join(folder, 'worker'), seconds)),
      ...(await logAlone(join(folder, 'alone'), seconds)),
      ...hashes(),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function flushes(folder: string, rounds: number): BenchRow[] {
  const file = openSync(join(folder, 'flush'), 'w');
  const page = new Uint8Array(4096);
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    writeSync(file, page, 0, page.length, i * page.length);
    const start = performance.now();
    fdatasyncSync(file);
    times.push(performance.now() - start);
  }
  closeSync(file);
  return quantiles('Time of a flush to this disk (4 kB, fdatasync)', '', times);
}

async function appends(dataDir: string, seconds: number): Promise<BenchRow[]> {
  const worker = await supervise<Ledger>({
    name: 'ledger',
    url: new URL('../workers/ledger.ts', import.meta.url),
    list: ledgerMethods,
    workerData: { dataDir },
    onGiveUp: (error) => {
      throw error;
    },
  });
  const ledger = worker.api;
  let made = 0;

  const provable = async (): Promise<void> => {
    const [appended] = await ledger.append([newEntry(made++)]);
    await ledger.inclusion({ leaf_index: appended!.leaf_index }, appended!.tree_size);
  };
  await Promise.all(Array.from({ length: callers }, provable));

  const before = made;
  const start = performance.now();
  const end = start + seconds * 1000;
  const loop = async (): Promise<void> => {
    while (performance.now() < end) await provable();
  };
  await Promise.all(Array.from({ length: callers }, loop));
  const perSecond = ((made - before) / (performance.now() - start)) * 1000;

  const times = await atRate(perSecond / 2, seconds, provable);

  const single: number[] = [];
  for (let i = 0; i < 200; i++) {
    const began = performance.now();
    await provable();
    single.push(performance.now() - began);
  }
  await ledger.close();
  await worker.close();
  return [
    {
      question: 'Durable appends of signed entries, each with its inclusion proof returned',
      variant: `${callers} callers, one entry a call, over a worker thread`,
      value: Math.round(perSecond),
      unit: 'entries/s',
      note: 'goal: 10,000',
    },
    ...quantiles(
      'From append to proof',
      `at half that load (${Math.round(perSecond / 2)}/s), `,
      times,
      'goal: p99 50 ms',
    ),
    ...quantiles('From append to proof', 'idle log, one caller, ', single),
  ];
}

/**
 * Starts `perSecond` calls per second whether or not earlier calls have ended, and measures the time of each call from
 * its due time.
 */
async function atRate(perSecond: number, seconds: number, call: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  const pending: Promise<void>[] = [];
  const start = performance.now();
  const total = Math.floor(perSecond * seconds);
  for (let i = 0; i < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * perSecond));
    for (; i < due; i++) {
      const dueAt = start + (i / perSecond) * 1000;
      pending.push(
        call().then(() => {
          times.push(performance.now() - dueAt);
        }),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
  return times;
}

async function logAlone(dataDir: string, seconds: number): Promise<BenchRow[]> {
  const { storage, leaves, sequencer, grow } = await beginLog(dataDir);
  let made = 0;
  const commits: number[] = [];
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    const began = performance.now();
    await grow(2000);
    made += 2000;
    commits.push(performance.now() - began);
  }
  const perSecond = (made / (performance.now() - start)) * 1000;
  const head = () => sequencer.head;
  const nodes = new VerifiedNodes(storage, head, new TileDigests());
  const prover = new Prover({ storage, nodes, leaves: () => leaves, head });
  const random = () => Math.floor(Math.random() * (made - 1)) + 1;
  const hashOf = Array.from({ length: 2000 }, () => prover.leaf({ leaf_index: random() }).leaf_hash);
  const proofs = [
    ['inclusion by index', () => prover.inclusion({ leaf_index: random() }, undefined)],
    ['consistency with the current size', () => prover.consistency(random(), made)],
    ['inclusion by entry id', () => prover.inclusion({ entry_id: idOf(random()) }, undefined)],
    ['inclusion by leaf hash', (i: number) => prover.inclusion({ leaf_hash: hashOf[i % 2000]! }, undefined)],
  ] as const;
  const question = `Proofs from a log of ${made.toLocaleString('en')} leaves, in its thread (goal: p99 1 ms)`;
  const reads = ledgerReads({ storage, nodes, size: made });
  const tiles = Math.floor(made / pageColumns);
  const served = (read: (index: number) => unknown, question: string) => {
    const rounds = Array.from({ length: 2 }, () => timesOf(tiles, read));
    return ['first', 'again'].flatMap((when, i) => quantiles(question, `${when}, `, rounds[i]!));
  };
  const tileRows = [
    ...served(reads.tile, 'Full tiles of level 0, verified'),
    ...served(reads.bundle, 'Bundles of 256 entries, verified'),
    ...quantiles(
      'Full tiles of level 0, verified',
      'a leaf at random, ',
      timesOf(10_000, () => prover.leaf({ leaf_index: random() })),
    ),
  ];
  const rows = proofs.flatMap(([variant, prove]) => {
    return quantiles(question, `${variant}, `, timesOf(10_000, prove));
  });
  await storage.close();
  return [
    {
      question: 'The log alone: durable leaves, signed beforehand',
      variant: 'batches of 2,000',
      value: Math.round(perSecond),
      unit: 'leaves/s',
      note: 'goal: 50,000',
    },
    ...quantiles('The log alone: durable leaves, signed beforehand', 'a batch, ', commits),
    ...rows,
    ...tileRows,
  ];
}

function timesOf(rounds: number, run: (round: number) => unknown): number[] {
  return Array.from({ length: rounds }, (_, round) => {
    const began = performance.now();
    run(round);
    return performance.now() - began;
  });
}

function ledgerReads({ storage, nodes, size }: { storage: LedgerStorage; nodes: VerifiedNodes; size: number }) {
  return {
    tile: (index: number) => readTile(nodes, size, { level: 0, index, width: pageColumns }),
    bundle: (index: number) => readEntryBundle(storage, nodes, size, index, pageColumns),
  };
}

function hashes(): BenchRow[] {
  const node = new Uint8Array(65);
  const variants = [
    ['node:crypto, through a binary string (used)', () => sha256(node)],
    ['node:crypto, to a Buffer', () => hash('sha256', node, 'buffer')],
    ['@noble/hashes (the verifier)', () => nobleSha256(node)],
  ] as const;
  return variants.map(([variant, digest]) => {
    const rounds = 200_000;
    for (let i = 0; i < rounds / 10; i++) digest();
    const start = performance.now();
    for (let i = 0; i < rounds; i++) {
      node[1] = i;
      digest();
    }
    const value = ((performance.now() - start) / rounds) * 1000;
    return { question: 'SHA-256 of a tree node (65 bytes)', variant, value, unit: 'µs' };
  });
}

function quantiles(question: string, variant: string, times: number[], note?: string): BenchRow[] {
  const sorted = [...times].sort((a, b) => a - b);
  return [0.5, 0.99].map((q) => ({
    question,
    variant: `${variant}p${q * 100}`,
    value: sorted[Math.floor(sorted.length * q)] ?? Number.NaN,
    unit: 'ms',
    ...(note === undefined ? {} : { note }),
  }));
}

if (import.meta.main) console.table(await run());
