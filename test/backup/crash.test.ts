import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RestoreStep } from '../../src/backup/restore.ts';
import { takeDataFolder } from '../../src/files/data-folder.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { newest } from '../store/opened.ts';
import { backUp, newFolder, openParts, restore } from './fixture.ts';
import { startParts } from './parts.ts';

const steps = {
  staged: 'untouched',
  marked: 'half',
  'moved-aside': 'half',
  'moved-in': 'half',
  'keys-carried': 'half',
  logged: 'half',
  'settings-in': 'half',
  unmarked: 'done',
} as const satisfies Record<RestoreStep, 'untouched' | 'half' | 'done'>;

/** A folder with ten entries in a backup and forty later entries. */
let original: { readonly dataDir: string; readonly path: string };
beforeAll(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-backup-'));
  const parts = await startParts(dataDir);
  await parts.ledger.append(entries(0, 10));
  const settings = join(dataDir, 'config.json');
  writeFileSync(settings, '{}');
  const { attributes } = await backUp(parts);
  rmSync(settings);
  await parts.ledger.append(entries(10, 50));
  await parts.close();
  original = { dataDir, path: attributes.path! };
});
afterAll(() => rmSync(original.dataDir, { recursive: true, force: true }));

describe('a restore killed after a step', () => {
  /** The folder and its copies after each step: a copy equals the folder that a killed process leaves. */
  let restored: { readonly dataDir: string; readonly path: string; readonly size: number };
  let copies: string;
  beforeAll(async () => {
    restored = backedUp(mkdtempSync(join(tmpdir(), 'candor-backup-')));
    copies = mkdtempSync(join(tmpdir(), 'candor-steps-'));
    const onStep = (step: RestoreStep) => cloneFolder(restored.dataDir, join(copies, step));
    await restore(restored.path, restored.dataDir, { replace: true, onStep });
  });
  afterAll(() => {
    for (const path of [copies, restored.dataDir]) rmSync(path, { recursive: true, force: true });
  });

  test.each(Object.entries(steps))(
    '"%s" leaves the folder in the state "%s", and the same command completes it',
    async (step, left) => {
      const { dataDir, path, size } = restored;
      rmSync(dataDir, { recursive: true, force: true });
      cloneFolder(join(copies, step), dataDir);
      await goesOn(dataDir, path, size, left);
      expect(existsSync(join(dataDir, 'config.json'))).toBe(true);
    },
  );
});

test('after a restore killed at any moment, the old content is in place, or the command completes the restore', async () => {
  const seen = new Set<string>();
  // A restore begins after about 0.4 s and ends about a second after the start of its process.
  for (let delayMs = 400; delayMs < 1300; delayMs += 200 + Math.random() * 150) {
    const { dataDir, path, size } = backedUp();
    await runUntilKilled(['restore', dataDir, path], delayMs);
    seen.add(await goesOn(dataDir, path, size));
  }
  expect(seen.size).toBeGreaterThan(0);
});

test('after a kill at any moment of a backup, complete backups are valid and logged, and incomplete backups are removed', async () => {
  const dataDir = newFolder();
  const made = new Set<string>();
  for (let round = 0; round < 3; round++) {
    // Kills the process during the first backup or, in every other round, shortly after it.
    const out = await runUntilKilled(['backup', dataDir], Math.random() * 600, round % 2 === 0 ? 'begun' : 'made');
    for (const line of out) if (line.startsWith('made ')) made.add(line.slice(5));
    const parts = await openParts(dataDir);
    await parts.backups.recover();
    parts.pump.wake();
    await parts.pump.idle();
    const dir = join(dataDir, 'backups');
    const names = existsSync(dir) ? readdirSync(dir) : [];
    expect(names.filter((name) => name.startsWith('.partial'))).toEqual([]);
    const { items } = await parts.backups.list(newest);
    for (const { id, attributes } of items) {
      expect(attributes.state).toBe('completed');
      expect(attributes.transparency, id).toBeDefined();
      expect(JSON.parse(Buffer.from((await parts.ledger.leaf({ entry_id: id })).canonical).toString()).kind).toBe(
        'backup.created',
      );
    }
    for (const id of made) expect(items.map((item) => item.id)).toContain(id);
    await parts.close();
    const latest = items[0]?.attributes.path;
    if (latest !== undefined) await restore(latest, newFolder());
  }
  expect(made.size).toBeGreaterThan(0);
});

/** Copies the folder that has a backup. */
function backedUp(dataDir = newFolder()) {
  cloneFolder(original.dataDir, dataDir);
  return { dataDir, path: original.path.replace(original.dataDir, dataDir), size: 51 };
}

/** Checks that the folder is untouched, half restored or completely restored, and that its log continues. */
async function goesOn(dataDir: string, path: string, size: number, expected?: string): Promise<string> {
  const half = existsSync(join(dataDir, 'restore.json'));
  if (half) {
    expect(() => takeDataFolder(dataDir)).toThrow(/restore into the data folder .* was interrupted/);
    const { resumed } = await restore(path, dataDir);
    expect(resumed).toBe(true);
  }
  const { ledger, close } = await openParts(dataDir);
  const status = await ledger.status();
  expect(status.health).toEqual({ state: 'ok' });
  const left = half ? 'half' : status.size === size ? 'untouched' : 'done';
  if (expected !== undefined) expect(left).toBe(expected);
  if (left === 'untouched') {
    await close();
    await restore(path, dataDir, { replace: true });
    return left;
  }
  expect(status.size).toBe(12);
  expect((await ledger.entries({ kinds: ['log.life_started'], page: 1, per_page: 10 })).total).toBe(1);
  expect((await ledger.entries({ kinds: ['backup.restored'], page: 1, per_page: 10 })).total).toBe(1);
  const aside = readdirSync(dataDir).filter((name) => name.startsWith('replaced-'));
  expect(aside).toHaveLength(1);
  expect(readdirSync(join(dataDir, aside[0]!))).toEqual(expect.arrayContaining(['keys', 'ledger.mdb', 'siem.mdb']));
  expect(existsSync(join(dataDir, 'restoring'))).toBe(false);
  await close();
  return left;
}

/**
 * Returns the lines that the child wrote until it was killed. This function kills the child `delayMs` after its start,
 * or after it wrote `word` if given.
 */
function runUntilKilled(args: readonly string[], delayMs: number, word = ''): Promise<string[]> {
  const script = new URL('./crash-child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
    if (word !== '' && out.includes(word)) kill();
  });
  child.stderr.on('data', (text) => {
    errors += text;
  });
  let timer: NodeJS.Timeout | undefined;
  const kill = (): void => {
    timer ??= setTimeout(() => child.kill('SIGKILL'), delayMs);
  };
  if (word === '') kill();
  return new Promise((resolve, reject) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (signal === 'SIGKILL' || code === 0) resolve(out.split('\n').filter(Boolean));
      else reject(new Error(`the child ended before it was killed: ${errors}`));
    });
  });
}
