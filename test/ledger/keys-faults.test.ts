/** The fault table of key changes: the state after the next start, for a change that failed at each step. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit, type Pin } from '../../src/client/auditor.ts';
import type { LedgerStep } from '../../src/ledger/hooks.ts';
import type { LedgerKeyPurpose } from '../../src/ledger/ledger.ts';
import { type LedgerOptions, openLedger } from '../../src/ledger/open.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { keyEntries, sourceOf } from './audited.ts';
import { useFewerRounds } from './fewer-rounds.ts';
import { codeOf, entries, entry, folder, open } from './fixture.ts';
import { reverify } from './reverify.ts';

/**
 * The steps of a rotation in order: the append of key.rotated, the key files, the append of key.retired.
 */
const rotationSteps: [step: LedgerStep, nth: number][] = [
  ['key-published', 1],
  ['batch-taken', 1],
  ['in-transaction', 1],
  ['flushed', 1],
  ['released', 1],
  ['key-rotated', 1],
  ['key-files-written', 1],
  ['new-key-active', 1],
  ['old-key-ended', 1],
  ['keys-changed', 1],
  ['batch-taken', 2],
  ['in-transaction', 2],
  ['flushed', 2],
  ['key-end-logged', 1],
];
/** Steps of a commit. A failure at one of them leaves the database in an unknown state and stops the ledger. */
const commitSteps: readonly LedgerStep[] = ['batch-taken', 'head-signed', 'in-transaction', 'flushed', 'released'];
const purposes = ['transparency-sth', 'event-signing', 'access-token'] as const;

/** A closed log of five entries, pinned by an auditor. */
interface PinnedLog {
  readonly dataDir: string;
  readonly pin: Pin;
}

async function pinnedLog(options: Partial<LedgerOptions> = {}): Promise<PinnedLog> {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-keys-'));
  const ledger = await openLedger({ dataDir, ...options });
  await ledger.append(entries(0, 5));
  const pinned = await audit(sourceOf(ledger), undefined, { now: Date.now() });
  if (pinned.status !== 'pinned') throw new Error('the auditor has no pin');
  await ledger.close();
  return { dataDir, pin: pinned.pin };
}

/** Copies a log to a folder that is removed after the test. */
function copyOf(log: PinnedLog): string {
  const dataDir = folder();
  cloneFolder(log.dataDir, dataDir);
  return dataDir;
}

/** The log that tests copy, and the same with encrypted keys. They are shared, because they take long to create. */
let plain: PinnedLog;
let encrypted: PinnedLog;
beforeAll(async () => {
  plain = await pinnedLog();
  encrypted = await pinnedLog({ keyPassphrase: 'correct horse' });
  await useFewerRounds(encrypted.dataDir, 'correct horse');
});
afterAll(() => {
  for (const { dataDir } of [plain, encrypted]) rmSync(dataDir, { recursive: true, force: true });
});

/** Opens a copy of the plain log, and fails at the nth occurrence of a step. */
async function broken(step: LedgerStep, nth: number) {
  const dataDir = copyOf(plain);
  const fatal: unknown[] = [];
  const failure = new Error('the disk says no');
  let armed = false;
  let passed = 0;
  const ledger = await openLedger({
    dataDir,
    onFatal: (error) => fatal.push(error),
    hooks: {
      at(here) {
        if (armed && here === step && ++passed === nth) throw failure;
      },
    },
  });
  const arm = () => {
    armed = true;
  };
  return { dataDir, ledger, arm, pin: plain.pin, fatal, failure };
}

/**
 * Checks that the auditor finds no fault. The auditor cannot verify the key that replaces a revoked key, so the
 * operator confirms its fingerprint.
 */
async function audited(ledger: Awaited<ReturnType<typeof open>>, pin: Pin): Promise<void> {
  const acceptedKeys = [(await ledger.status()).sth_key_fingerprint];
  expect(await audit(sourceOf(ledger), pin, { now: Date.now(), acceptedKeys })).toHaveProperty('pin');
}

/** Checks the invariants after a restart. */
async function checkAfter(dataDir: string, pin: Pin): Promise<Awaited<ReturnType<typeof open>>> {
  const ledger = await open(dataDir);
  expect((await ledger.status()).health).toEqual({ state: 'ok' });
  const active = (await ledger.keyRecords()).filter(({ state }) => state === 'active');
  expect(active.map(({ purpose }) => purpose).sort()).toEqual(['checkpoint', ...purposes].sort());
  expect((await ledger.head()).signer_key_id).toBe(active.find(({ purpose }) => purpose === 'transparency-sth')!.kid);
  expect(readdirSync(join(dataDir, 'keys')).filter((name) => !name.endsWith('.json'))).toEqual([]);
  await audited(ledger, pin);
  const { ids } = await reverify(ledger); // no duplicates
  await ledger.append([entry(ids.length + 100)]);
  await reverify(ledger);
  return ledger;
}

const kinds = async (ledger: Parameters<typeof keyEntries>[0]) => (await keyEntries(ledger)).map(({ kind }) => kind);
const states = async (ledger: Awaited<ReturnType<typeof open>>, purpose: LedgerKeyPurpose) =>
  (await ledger.keyRecords()).filter((key) => key.purpose === purpose).map(({ state }) => state);

/**
 * Checks that after a change that failed between commits, the ledger continues with the state of its key
 * files, without a restart.
 */
async function goesOn({ ledger, fatal, pin }: Pick<Awaited<ReturnType<typeof broken>>, 'ledger' | 'fatal' | 'pin'>) {
  expect(fatal).toEqual([]);
  const { health, findings } = await ledger.status();
  expect(health).toEqual({ state: 'ok' });
  expect(findings).toMatchObject([{ code: 'key_rotation_failed' }]);
  const answers = await ledger.append([entry(9)]);
  expect(await audit(sourceOf(ledger), pin, { now: Date.now() })).toHaveProperty('pin');
  await ledger.tick();
  expect(await audit(sourceOf(ledger), pin, { now: Date.now() })).toHaveProperty('pin');
  await reverify(ledger, { answers });
}

const rotations = purposes.flatMap((purpose) => rotationSteps.map((at) => [purpose, ...at] as const));
test.each(rotations)(
  'a rotation of %s that failed at %s (%i) is completed, at the latest at the next start',
  async (purpose, step, nth) => {
    const { dataDir, ledger, arm, pin, fatal, failure } = await broken(step, nth);
    arm();
    const code = await codeOf(ledger.rotateKey(purpose, 'ann'));
    if (commitSteps.includes(step)) {
      expect(code).toBe('WORKER_LOST');
      expect(await codeOf(ledger.append([entry(9)]))).toBe('WORKER_LOST');
      expect(fatal).toEqual([failure]);
    } else {
      expect(code).toBe('UNAVAILABLE');
      await goesOn({ ledger, fatal, pin });
      expect(await states(ledger, purpose)).toEqual(['retired', 'active']);
      expect(await kinds(ledger)).toEqual(['key.rotated', 'key.retired']);
      await ledger.rotateKey(purpose, 'ann');
      expect((await ledger.status()).findings).toEqual([]);
      await ledger.close();
      await checkAfter(dataDir, pin);
      return;
    }
    await ledger.close();
    const after = await checkAfter(dataDir, pin);
    expect(await states(after, purpose)).toEqual(['retired', 'active']);
    expect(await kinds(after)).toEqual(['key.rotated', 'key.retired']);
  },
);

const revocationSteps: [step: LedgerStep, nth: number, done: boolean][] = [
  ['key-files-written', 1, false],
  ['new-key-active', 1, true],
  ['old-key-ended', 1, true],
  ['head-signed', 1, true],
  ['keys-changed', 1, true],
  ['flushed', 1, true],
  ['key-end-logged', 1, true],
];
const revocations = [...purposes, 'checkpoint' as const].flatMap((purpose) =>
  revocationSteps.map((at) => [purpose, ...at] as const),
);
test.each(revocations)(
  'a revocation of %s that failed at %s (%i) leaves a consistent log, with the key revoked: %s',
  async (purpose, step, nth, done) => {
    const { dataDir, ledger, arm, pin, fatal, failure } = await broken(step, nth);
    const { kid } = (await ledger.keyRecords()).find((key) => key.purpose === purpose)!;
    arm();
    const code = await codeOf(ledger.revokeKey(kid, 'stolen', 'ann'));
    if (commitSteps.includes(step)) {
      expect(code).toBe('WORKER_LOST');
      expect(fatal).toEqual([failure]);
    } else {
      expect(code).toBe('UNAVAILABLE');
      const { signer_key_id: signer } = await ledger.head();
      expect((await ledger.keyRecords()).find((key) => key.kid === signer)).toMatchObject({
        state: 'active',
      });
      expect(fatal).toEqual([]);
      await ledger.append([entry(9)]);
      expect(await states(ledger, purpose)).toEqual(done ? ['revoked', 'active'] : ['active']);
    }
    await ledger.close();
    const after = await checkAfter(dataDir, pin);
    expect(await states(after, purpose)).toEqual(done ? ['revoked', 'active'] : ['active']);
    expect(await keyEntries(after)).toMatchObject(
      done ? [{ kind: 'key.revoked', actor: 'ann', subject: { id: kid }, data: { reason: 'stolen' } }] : [],
    );
  },
);

test('a revocation of a retired key is logged once, even if it failed before its entry was appended', async () => {
  const { dataDir, ledger, arm, pin } = await broken('old-key-ended', 1);
  const { kid } = (await ledger.keyRecords()).find((key) => key.purpose === 'transparency-sth')!;
  await ledger.rotateKey('transparency-sth', 'ann');
  arm();
  expect(await codeOf(ledger.revokeKey(kid, 'stolen', 'ann'))).toBe('UNAVAILABLE');
  expect(await kinds(ledger)).toEqual(['key.rotated', 'key.retired', 'key.revoked']);
  await ledger.close();
  const after = await checkAfter(dataDir, pin);
  expect(await kinds(after)).toEqual(['key.rotated', 'key.retired', 'key.revoked']);
  await after.close();
  expect(await kinds(await open(dataDir))).toEqual(['key.rotated', 'key.retired', 'key.revoked']);
});

test('a scheduled successor that is not due stays pending across a crash', async () => {
  const dataDir = folder();
  const clock = { now: Date.now() };
  const rotation = { periods: { 'event-signing': 86_400_000 }, overlapMs: 3_600_000 };
  const options = { clock: () => BigInt(clock.now) * 1_000_000n, rotation };
  const failure = new Error('the disk says no');
  let armed = false;
  const ledger = await openLedger({
    ...{ dataDir, ...options, onFatal: () => undefined },
    hooks: {
      at(step) {
        if (armed && step === 'key-published') throw failure;
      },
    },
  });
  await ledger.append(entries(0, 3));
  clock.now += 23 * 3_600_000;
  armed = true;
  await ledger.tick();
  await ledger.close();
  const after = await open(dataDir, options);
  expect(await states(after, 'event-signing')).toEqual(['active', 'pending']);
  expect(await kinds(after)).toEqual([]);
  clock.now += 3_600_000;
  await after.tick();
  expect(await states(after, 'event-signing')).toEqual(['retired', 'active']);
  await reverify(after);
});

const kills: [change: string, step: LedgerStep, told: string[]][] = [
  ...(
    ['key-published', 'key-rotated', 'key-files-written', 'new-key-active', 'old-key-ended', 'keys-changed'] as const
  ).map((step): [string, LedgerStep, string[]] => ['rotate', step, ['key.rotated', 'key.retired']]),
  ['revoke', 'new-key-active', ['key.revoked']],
  ['revoke', 'old-key-ended', ['key.revoked']],
  ['revoke', 'head-signed', ['key.revoked']],
  ['revoke', 'keys-changed', ['key.revoked']],
];

test.each(kills)('after a kill during %s at %s, with encrypted keys, %j is logged once', async (change, step, told) => {
  const dataDir = copyOf(encrypted);
  await killAt(dataDir, change, step);
  const after = await open(dataDir, { keyPassphrase: 'correct horse' });
  expect(await kinds(after)).toEqual(told);
  expect((await states(after, 'transparency-sth')).at(-1)).toBe('active');
  await audited(after, encrypted.pin);
  await reverify(after);
});

async function killAt(dataDir: string, change: string, step: LedgerStep): Promise<void> {
  const script = new URL('./keys-crash-child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, dataDir, change, step], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const signal = await new Promise((resolve) => child.on('close', (_code, by) => resolve(by)));
  if (signal !== 'SIGKILL') throw new Error(`the child was not killed: ${errors}`);
}
