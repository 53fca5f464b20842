/** The fault table: what is there after a fault at each step of a commit. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LedgerStep } from '../../src/ledger/hooks.ts';
import { KeyRing } from '../../src/ledger/keys.ts';
import type { Appended } from '../../src/ledger/ledger.ts';
import { LmdbStorage } from '../../src/ledger/lmdb-store.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { codeOf, entry, folder, open } from './fixture.ts';
import { checkAll } from './outside.ts';

/** After the third commit's fault: how many entries are in the log, and how many of them were answered. */
const table: { step: LedgerStep; logged: number; answered: number }[] = [
  { step: 'batch-taken', logged: 2, answered: 2 },
  { step: 'head-signed', logged: 2, answered: 2 },
  { step: 'in-transaction', logged: 2, answered: 2 },
  { step: 'flushed', logged: 3, answered: 2 },
  { step: 'released', logged: 3, answered: 2 }, // resolved, but the thread died before the answer left it
];

test.each(table)(
  'killed at $step: $logged entries are in the log, $answered answered',
  async ({ step, ...wanted }) => {
    const dataDir = folder();
    const answers = await runUntilKilled(dataDir, step, 3);
    expect(answers.map((a) => a.leaf_index)).toEqual([0, 1]);
    const ledger = await open(dataDir);
    expect(await ledger.status()).toMatchObject({ size: wanted.logged, health: { state: 'ok' } });
    await checkAgain(ledger, answers, 3);
  },
);

test.each(['anchor-written', 'anchor-renamed'] as const)(
  'killed at %s: every answered entry is there, and the anchor is whole',
  async (step) => {
    const dataDir = folder();
    // The first write of the anchor in this life and in the next: missing or old, half done or done.
    for (let life = 0; life < 2; life++) {
      const before = life === 0 ? 0 : anchorSize(dataDir);
      const answers = await runUntilKilled(dataDir, step, 1);
      const after = anchorSize(dataDir);
      if (step === 'anchor-written') expect(after).toBe(before);
      else expect(after).toBeGreaterThan(before);
      const ledger = await open(dataDir);
      const { size, health } = await ledger.status();
      expect(health.state).toBe('ok');
      expect(size).toBeGreaterThanOrEqual((answers.at(-1)?.leaf_index ?? -1) + 1);
      expect(size).toBeGreaterThanOrEqual(after);
      for (const { leaf_index, id } of answers.slice(-20)) {
        expect((await ledger.append([entry(leaf_index)]))[0]).toMatchObject({ id, leaf_index });
      }
      await ledger.close();
    }
  },
);

test.each(table)(
  'failed at $step: the ledger stops for good, and the next start finds $logged entries',
  async ({ step, logged }) => {
    const dataDir = folder();
    const fatal: unknown[] = [];
    const failure = new Error('the disk says no');
    let passed = 0;
    const broken = await openLedger({
      dataDir,
      onFatal: (error) => fatal.push(error),
      hooks: {
        at(here) {
          if (here === step && ++passed === 3) throw failure;
        },
      },
    });
    const answers = [...(await broken.append([entry(0)])), ...(await broken.append([entry(1)]))];
    const third = broken.append([entry(2)]);
    // Past the flush the answer is on its way already when the fault comes.
    expect(await codeOf(third)).toBe(step === 'released' ? 'none' : 'WORKER_LOST');
    expect(await codeOf(broken.append([entry(3)]))).toBe('WORKER_LOST');
    expect(fatal).toEqual([failure]);
    await broken.close();
    const ledger = await open(dataDir);
    expect(await ledger.status()).toMatchObject({ size: logged, health: { state: 'ok' } });
    await checkAgain(ledger, answers, 3);
  },
);

test('an anchor that cannot be written stops the ledger', async () => {
  const dataDir = folder();
  await mkdir(join(dataDir, 'anchor.json.new')); // a folder where the file should be
  const fatal: unknown[] = [];
  const ledger = await openLedger({ dataDir, onFatal: (error) => fatal.push(error) });
  await ledger.append([entry(0)]);
  await ledger.close();
  expect(fatal).toHaveLength(1);
});

test('an anchor whose folder is missing is found out before the log begins', async () => {
  const dataDir = folder();
  await expect(openLedger({ dataDir, anchorPath: join(dataDir, 'volume', 'anchor.json') })).rejects.toThrow(
    'volume',
  );
  expect(readdirSync(dataDir)).toEqual([]);
});

test('two ledgers over one file: the second to write stops, the first is unharmed', async () => {
  const dataDir = folder();
  const fatal: unknown[] = [];
  const first = await open(dataDir);
  const second = await openLedger({ dataDir, onFatal: (error) => fatal.push(error) });
  await first.append([entry(0)]);
  expect(await codeOf(second.append([entry(1)]))).toBe('WORKER_LOST');
  expect(fatal).toHaveLength(1);
  await first.append([entry(2)]);
  expect((await checkAll(first)).tree_size).toBe(2);
  await second.close();
});

test('an initialisation that was interrupted anywhere goes on at the next start', async () => {
  const dataDir = folder();
  const path = join(dataDir, 'ledger.mdb');
  await new LmdbStorage(path).close(); // the file, and nothing in it
  await (await open(dataDir)).close();
  expect(readdirSync(join(dataDir, 'keys'))).toHaveLength(3);

  const other = folder();
  const storage = new LmdbStorage(join(other, 'ledger.mdb'));
  storage.setState('initialising');
  await storage.close();
  const keys = await KeyRing.load(join(other, 'keys'));
  await keys.create(join(other, 'keys'), 1_763_700_000_000);
  const ledger = await open(other);
  expect((await ledger.status()).health.state).toBe('ok');
  expect(readdirSync(join(other, 'keys'))).toHaveLength(3);
});

/** Everything that was answered is where the answer said; what the sender repeats is logged once. */
async function checkAgain(
  ledger: Awaited<ReturnType<typeof open>>,
  answers: readonly Appended[],
  sent: number,
): Promise<void> {
  for (let n = 0; n < sent; n++) {
    const [again] = await ledger.append([entry(n)]);
    expect(again!.leaf_index).toBe(n);
    const before = answers.find((a) => a.id === again!.id);
    if (before !== undefined) expect(again!.leaf_hash).toBe(before.leaf_hash);
  }
  expect((await checkAll(ledger)).tree_size).toBe(sent);
}

function runUntilKilled(dataDir: string, step: LedgerStep, nth: number): Promise<Appended[]> {
  const script = new URL('./crash-child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, dataDir, step, String(nth)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    errors += text;
  });
  return new Promise((resolve, reject) => {
    child.on('close', (_, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the child ended by itself: ${errors}`));
      else
        resolve(
          out
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line)),
        );
    });
  });
}

function anchorSize(dataDir: string): number {
  const path = join(dataDir, 'anchor.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).tree_size : 0;
}
