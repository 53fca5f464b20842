/** State after a process was killed at each step of a commit. fault-table.test.ts has the other faults. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LedgerStep } from '../../src/ledger/hooks.ts';
import { KeyRing } from '../../src/ledger/keys/key-ring.ts';
import type { Appended } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { LmdbStorage } from '../../src/ledger/storage/lmdb-store.ts';
import { codeOf, entry, folder, open } from './fixture.ts';
import { checkAll } from './outside.ts';
import { reverify } from './reverify.ts';

/** The number of entries in the log, and of acknowledged entries, after a fault in the third commit. */
const table: { step: LedgerStep; logged: number; answered: number }[] = [
  { step: 'batch-taken', logged: 2, answered: 2 },
  { step: 'head-signed', logged: 2, answered: 2 },
  { step: 'in-transaction', logged: 2, answered: 2 },
  { step: 'flushed', logged: 3, answered: 2 },
  { step: 'released', logged: 3, answered: 2 }, // resolved, but the thread died before it sent the result
];

test.each(table)(
  'after a kill at $step, $logged entries are in the log, $answered of them acknowledged',
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
  'after a kill at %s, every acknowledged entry is in the log, and the anchor is intact',
  async (step) => {
    const dataDir = folder();
    // The first write of the anchor in this process and in the next process: the anchor is missing or old,
    // the write is partial or complete.
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

test('a missing folder of the anchor is detected before the log begins', async () => {
  const dataDir = folder();
  await expect(openLedger({ dataDir, anchorPath: join(dataDir, 'volume', 'anchor.json') })).rejects.toThrow('volume');
  expect(readdirSync(dataDir)).toEqual([]);
});

test('with two ledgers on one file, the second ledger to write stops, and the first is not affected', async () => {
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

test('an initialisation interrupted before or after the creation of keys continues at the next start', async () => {
  const dataDir = folder();
  const path = join(dataDir, 'ledger.mdb');
  await new LmdbStorage(path).close(); // an empty file
  await (await open(dataDir)).close();
  expect(readdirSync(join(dataDir, 'keys'))).toHaveLength(4);

  const other = folder();
  const storage = new LmdbStorage(join(other, 'ledger.mdb'));
  storage.setState('initialising');
  await storage.close();
  const keys = KeyRing.load(join(other, 'keys'));
  await keys.create(keys.missing(), 1_763_700_000_000);
  const ledger = await open(other);
  expect((await ledger.status()).health.state).toBe('ok');
  expect(readdirSync(join(other, 'keys'))).toHaveLength(4);
});

/** Checks that every acknowledged entry has its index, and that repeated entries are logged once. */
async function checkAgain(
  ledger: Awaited<ReturnType<typeof open>>,
  answers: readonly Appended[],
  sent: number,
): Promise<void> {
  const pins = [(await reverify(ledger, { answers })).head];
  const again: Appended[] = [];
  for (let n = 0; n < sent; n++) again.push(...(await ledger.append([entry(n)])));
  expect(again.map((a) => a.leaf_index)).toEqual(again.map((_, n) => n));
  const { ids } = await reverify(ledger, { pins, answers: [...answers, ...again] });
  expect(ids).toHaveLength(sent);
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
      if (signal !== 'SIGKILL') reject(new Error(`the child was not killed: ${errors}`));
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
