/** The volume of the anchor or of the journal is lost, at start or while the log runs, with real failures. */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Anchor, observeAnchor } from '../../src/ledger/anchor.ts';
import { noHooks } from '../../src/ledger/hooks.ts';
import type { Appended } from '../../src/ledger/ledger.ts';
import type { DurableLedger, LedgerOptions } from '../../src/ledger/open.ts';
import { limits } from '../../src/limits.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { hangingVolume } from '../files/hanging-volume.ts';
import { codeOf, entries, entry, folder, open } from './fixture.ts';
import { reverify } from './reverify.ts';

/** Creates a log of five entries whose anchor is in a separate folder. */
async function logWithVolume(options: Partial<LedgerOptions> = {}) {
  const dataDir = folder();
  const volume = join(folder(), 'volume');
  mkdirSync(volume);
  const anchorPath = join(volume, 'anchor.json');
  const ledger = await open(dataDir, { anchorPath, ...options });
  const answers = await ledger.append(entries(0, 5));
  return { dataDir, volume, anchorPath, ledger, answers };
}

const codes = async (ledger: DurableLedger) => (await ledger.status()).findings.map(({ code }) => code);
const sizeIn = (path: string) => JSON.parse(readFileSync(path, 'utf8')).tree_size as number;

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(20);
}

const losses: [how: string, lose: (volume: string) => void, repair: (volume: string) => void][] = [
  ['its folder is moved away', (at) => renameSync(at, `${at}-away`), (at) => renameSync(`${at}-away`, at)],
  [
    'a file is in place of its folder',
    (at) => {
      renameSync(at, `${at}-away`);
      writeFileSync(at, '');
    },
    (at) => {
      rmSync(at);
      renameSync(`${at}-away`, at);
    },
  ],
  [
    'its file cannot be replaced',
    (at) => mkdirSync(join(at, 'anchor.json.new')),
    (at) => rmdirSync(join(at, 'anchor.json.new')),
  ],
];

test.each(losses)('if %s, entries are refused, other operations work, and appends recover', async (_, lose, repair) => {
  const { dataDir, volume, anchorPath, ledger, answers } = await logWithVolume();
  await until(() => existsSync(anchorPath) && sizeIn(anchorPath) === 5);
  lose(volume);
  answers.push(...(await ledger.append([entry(5)]))); // the loss has not been noticed yet
  await until(async () => (await codes(ledger)).includes('anchor_unavailable'));
  await expect(ledger.append([entry(6)])).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    details: { fault: 'anchor_unavailable' },
  });
  expect((await ledger.status()).health).toMatchObject({ state: 'degraded', fault: 'anchor_unavailable' });
  expect(await codeOf(ledger.rotateKey('event-signing', 'ann'))).toBe('UNAVAILABLE');
  const { head } = await reverify(ledger, { answers });
  expect(await ledger.checkpoint()).toContain('\n6\n');
  repair(volume);
  await until(async () => (await codes(ledger)).length === 0);
  expect(sizeIn(anchorPath)).toBe(6);
  expect((await ledger.status()).health).toEqual({ state: 'ok' });
  answers.push(...(await ledger.append([entry(6)])));
  await ledger.close();
  await reverify(await open(dataDir, { anchorPath }), { pins: [head], answers });
});

test('a volume that does not respond counts as lost, and its anchor is written once it responds', async () => {
  const { volume, answer } = await hangingVolume();
  const path = join(folder(), 'anchor.json');
  const reported: string[] = [];
  const anchor = new Anchor({
    ...{ path, volume, exists: false, hooks: noHooks },
    compare: ({ kind }) => reported.push(`compared: ${kind}`),
    onLost: (why) => reported.push(why),
    onBack: () => reported.push('back'),
    onDistrust: (reason) => reported.push(reason.message),
  });
  anchor.schedule({
    size: 5,
    root: new Uint8Array(32),
    timestampNs: 1024n,
    signature: new Uint8Array(64),
    keyId: 'k',
  });
  await anchor.flush();
  expect(reported).toEqual(['the volume has not answered for 0.2 s; repair its volume']);
  answer();
  while (reported.at(-1) !== 'back') await anchor.flush();
  expect(reported).toContain('compared: missing');
  expect(sizeIn(path)).toBe(5);
  await anchor.close();
});

test('at a start, an anchor on a volume that does not respond is reported as unavailable', async () => {
  const { volume } = await hangingVolume();
  expect(await observeAnchor(join(folder(), 'anchor.json'), volume)).toEqual({
    kind: 'unavailable',
    why: 'the volume has not answered for 0.2 s; repair its volume',
  });
});

test('with anchor_loss = wait, entries wait up to the limit of the queue, and are answered when the volume is back', async () => {
  const { volume, anchorPath, ledger, answers } = await logWithVolume({ anchorLoss: 'wait' });
  await until(() => existsSync(anchorPath));
  renameSync(volume, `${volume}-away`);
  answers.push(...(await ledger.append([entry(5)])));
  await until(async () => (await codes(ledger)).includes('anchor_unavailable'));
  expect((await ledger.status()).health).toEqual({ state: 'ok' });
  const first = ledger.append(entries(6, 10));
  const more = ledger.append(entries(10, 200));
  let answered = false;
  void first.then(() => {
    answered = true;
  });
  expect(await codeOf(ledger.append(entries(200, limits.maxQueuedAppends + 7)))).toBe('OVERLOADED');
  await ledger.tick(); // retries the volume
  expect([answered, (await ledger.status()).size]).toEqual([false, 6]);
  renameSync(`${volume}-away`, volume);
  await ledger.tick();
  answers.push(...(await first), ...(await more));
  expect(answers.map((a) => a.leaf_index)).toEqual(Array.from({ length: 200 }, (_, n) => n));
  expect(await codes(ledger)).toEqual([]);
});

test('entries that wait for the anchor are refused when the ledger closes', async () => {
  const { volume, anchorPath, ledger } = await logWithVolume({ anchorLoss: 'wait' });
  await until(() => existsSync(anchorPath));
  renameSync(volume, `${volume}-away`);
  await ledger.append([entry(5)]);
  await until(async () => (await codes(ledger)).includes('anchor_unavailable'));
  const waiting = codeOf(ledger.append([entry(6)]));
  await ledger.close();
  expect(await waiting).toBe('UNAVAILABLE');
});

test('an anchor that comes back with a larger tree reveals a rollback', async () => {
  const { dataDir, volume, anchorPath, ledger } = await logWithVolume();
  await until(() => existsSync(anchorPath));
  await ledger.close();
  const [older, newer] = [folder(), await open(dataDir, { anchorPath })];
  cloneFolder(dataDir, older);
  await newer.append(entries(5, 9));
  await newer.close();
  expect(sizeIn(anchorPath)).toBe(9);
  renameSync(volume, `${volume}-away`);
  const rolledBack = await open(older, { anchorPath });
  expect((await rolledBack.status()).health).toMatchObject({ fault: 'anchor_unavailable' });
  renameSync(`${volume}-away`, volume);
  await rolledBack.tick();
  expect((await rolledBack.status()).health).toMatchObject({ state: 'degraded', fault: 'rollback' });
  expect(await codeOf(rolledBack.append([entry(100)]))).toBe('UNAVAILABLE');
  await rolledBack.close();
  expect(sizeIn(anchorPath)).toBe(9);
});

test('an empty folder in place of the volume is not accepted as the volume', async () => {
  const { volume, anchorPath, ledger } = await logWithVolume();
  await until(() => existsSync(anchorPath));
  renameSync(volume, `${volume}-away`);
  await ledger.append([entry(5)]);
  await until(async () => (await codes(ledger)).includes('anchor_unavailable'));
  mkdirSync(volume);
  await ledger.tick();
  expect(await codes(ledger)).toEqual(['anchor_unavailable']);
  expect(readdirSync(volume)).toEqual([]);
  rmdirSync(volume);
  renameSync(`${volume}-away`, volume);
  await ledger.tick();
  expect(await codes(ledger)).toEqual([]);
  expect(sizeIn(anchorPath)).toBe(6);
});

test('a log starts without the volume of its anchor, and accepts entries when the volume is back', async () => {
  const { dataDir, volume, anchorPath, ledger, answers } = await logWithVolume();
  await ledger.close();
  renameSync(volume, `${volume}-away`);
  const again = await open(dataDir, { anchorPath });
  expect(await codeOf(again.append([entry(5)]))).toBe('UNAVAILABLE');
  expect(await codes(again)).toEqual(['anchor_unavailable']);
  expect((await again.accessTokenKeys()).current.kty).toBe('OKP');
  renameSync(`${volume}-away`, volume);
  await again.tick();
  await reverify(again, { answers: [...answers, ...(await again.append([entry(5)]))] });
});

const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot).each([
  [
    'full',
    (at: string) => writeFileSync(join(at, 'filler'), Buffer.alloc(2 ** 20)),
    (at: string) => rmSync(join(at, 'filler')),
  ],
  [
    'read-only',
    (at: string) => execFileSync('mount', ['-o', 'remount,ro', at]),
    (at: string) => execFileSync('mount', ['-o', 'remount,rw', at]),
  ],
  [
    'unmounted',
    (at: string) => execFileSync('mount', ['--move', at, `${at}-elsewhere`]),
    (at: string) => execFileSync('mount', ['--move', `${at}-elsewhere`, at]),
  ],
])('an anchor volume that is %s is detected, and the log recovers', async (_, lose, repair) => {
  const base = folder();
  const volume = join(base, 'volume');
  mkdirSync(volume);
  mkdirSync(`${volume}-elsewhere`);
  execFileSync('mount', ['--bind', base, base]);
  execFileSync('mount', ['--make-private', base]);
  onTestFinished(() => void execFileSync('umount', ['-l', base]));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', volume]);
  const anchorPath = join(volume, 'anchor.json');
  const ledger = await open(folder(), { anchorPath });
  const answers = await ledger.append(entries(0, 3));
  await until(() => existsSync(anchorPath));
  try {
    lose(volume);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
  answers.push(...(await ledger.append([entry(3)])));
  await until(async () => (await codes(ledger)).includes('anchor_unavailable'));
  expect(await codeOf(ledger.append([entry(4)]))).toBe('UNAVAILABLE');
  repair(volume);
  await ledger.tick();
  expect(await codes(ledger)).toEqual([]);
  answers.push(...(await ledger.append([entry(4)])));
  await reverify(ledger, { answers });
  await ledger.close();
});

test.skipIf(isRoot)('a folder of the anchor without write permission counts as a lost volume', async () => {
  const { volume, anchorPath, ledger } = await logWithVolume();
  await until(() => existsSync(anchorPath));
  chmodSync(volume, 0o500);
  await ledger.append([entry(5)]);
  await until(async () => (await codes(ledger)).includes('anchor_unavailable'));
  chmodSync(volume, 0o700);
  await ledger.tick();
  expect(await codes(ledger)).toEqual([]);
});

test('an unwritable journal becomes a finding; appends continue, and the pending line is written later', async () => {
  const dataDir = folder();
  const journal = join(dataDir, 'journal.ndjson');
  const before = await open(dataDir);
  await before.append(entries(0, 3));
  await before.close();
  renameSync(journal, `${journal}-away`);
  mkdirSync(journal);
  const ledger = await open(dataDir);
  await ledger.tick();
  expect(await ledger.status()).toMatchObject({
    health: { state: 'ok' },
    findings: [{ code: 'journal_unavailable' }],
  });
  await ledger.append([entry(3)]);
  rmdirSync(journal);
  renameSync(`${journal}-away`, journal);
  await ledger.tick();
  expect(await codes(ledger)).toEqual([]);
  const lines = readFileSync(journal, 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(['initialised', 'start']);
});

test('a journal that was unreadable at the start is compared with the log once it is readable', async () => {
  const dataDir = folder();
  const journal = join(dataDir, 'journal.ndjson');
  const first = await open(dataDir);
  await first.append(entries(0, 3));
  await first.close();
  const older = folder();
  cloneFolder(dataDir, older);
  const second = await open(dataDir);
  await second.append(entries(3, 9));
  await second.close();
  await (await open(dataDir)).close(); // a line with nine leaves
  rmSync(join(older, 'journal.ndjson'));
  mkdirSync(join(older, 'journal.ndjson'));
  const ledger = await open(older);
  expect(await ledger.status()).toMatchObject({
    health: { state: 'ok' },
    findings: [{ code: 'journal_unavailable' }],
  });
  rmdirSync(join(older, 'journal.ndjson'));
  writeFileSync(join(older, 'journal.ndjson'), readFileSync(journal));
  await ledger.tick();
  expect((await ledger.status()).health).toMatchObject({ state: 'degraded', fault: 'rollback' });
});

test('after kills while the volume disappears and returns, every acknowledged entry is in the log', async () => {
  const dataDir = folder();
  const volume = join(folder(), 'volume');
  mkdirSync(volume);
  const anchorPath = join(volume, 'anchor.json');
  const answers: Appended[] = [];
  for (let life = 0; life < 4; life++) {
    const script = new URL('./lost-volume-child.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, dataDir, anchorPath], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (text) => {
      out += text;
    });
    const before = answers.length;
    const count = () => out.split('\n').length - 1;
    await until(() => count() > 20);
    renameSync(volume, `${volume}-away`);
    const lost = count();
    await until(() => out.includes('UNAVAILABLE') || count() > lost + 100_000);
    if (life % 2 === 0) {
      renameSync(`${volume}-away`, volume);
      await until(() => out.slice(out.lastIndexOf('UNAVAILABLE')).includes('leaf_index'));
    }
    const ended = new Promise((resolve) => child.on('close', (_code, signal) => resolve(signal)));
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    if (life % 2 === 1) renameSync(`${volume}-away`, volume);
    for (const line of out.split('\n').slice(0, -1)) if (line.startsWith('{')) answers.push(JSON.parse(line));
    expect(answers.length).toBeGreaterThan(before + 20);
  }
  const ledger = await open(dataDir, { anchorPath });
  expect(await ledger.status()).toMatchObject({ health: { state: 'ok' }, findings: [] });
  await reverify(ledger, { answers });
});
