import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { takeDataFolder } from '../../src/data-folder.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { copyOf, fileOf, flipIn, hashOf, logOf } from '../ledger/damaged-log.ts';
import { entries, folder, open } from '../ledger/fixture.ts';
import { candor, candorIn } from './candor.ts';

const timeout = 60_000;

test('a whole log: code 0, its size and root, for people and as JSON, by folder, file or CANDOR_DATA_DIR', {
  timeout,
}, async () => {
  const log = await logOf(5, 20);
  const [before, names] = [hashOf(fileOf(log)), readdirSync(log.dataDir)];
  const root = bytesToHex(log.heads[1]!.root);
  const people = await candor('fsck', log.dataDir, '--signatures');
  expect(people).toMatchObject({ code: exitCodes.ok, stderr: '' });
  expect(people.stdout).toContain(root);
  expect(people.stdout).toContain('Whole');
  const status = { status: 'ok', tree_size: 20, root_hash: root, findings: [], counts: {} };
  const file = await candor('fsck', fileOf(log), '--json');
  expect(JSON.parse(file.stdout)).toMatchObject(status);
  const configured = await candorIn({ CANDOR_DATA_DIR: log.dataDir }, 'fsck', '--json', '--progress');
  expect(JSON.parse(configured.stdout)).toMatchObject(status);
  expect(configured.stderr).toMatch(/leaves 20 of 20/);
  expect(hashOf(fileOf(log))).toBe(before);
  expect(readdirSync(log.dataDir)).toEqual(names);
});

test('a damaged one: code 4, each finding with its code, place and advice', { timeout }, async () => {
  const log = await logOf(5, 20);
  flipIn(log, log.canonical[7]!, 12);
  const json = await candor('fsck', log.dataDir, '--json');
  expect(json.code).toBe(exitCodes.refused);
  expect(JSON.parse(json.stdout)).toMatchObject({
    status: 'damaged',
    counts: { entry_altered: 1 },
    findings: expect.arrayContaining([
      {
        code: 'entry_altered',
        position: 7,
        message: expect.any(String),
        advice: expect.stringContaining('candor'),
      },
    ]),
  });
  const people = await candor('fsck', log.dataDir);
  expect(people.stdout).toContain('entry_altered: entry 7 does not hash to its leaf');
  expect(people.stdout).toContain('candor rebuild --dry-run');
});

test('one that was rolled back: code 5', { timeout }, async () => {
  const log = await logOf(5);
  const old = copyOf(log);
  const ledger = await open(log.dataDir);
  await ledger.append(entries(5, 9));
  await ledger.close();
  copyFileSync(fileOf(old), fileOf(log));
  const ended = await candor('fsck', log.dataDir, '--json');
  expect(ended.code).toBe(exitCodes.misbehaviour);
  expect(JSON.parse(ended.stdout)).toMatchObject({ status: 'rolled_back', counts: { anchor_ahead: 1 } });
});

test('while a service has the folder, or there is no log in it: code 3 and one line', {
  timeout,
}, async () => {
  const log = await logOf(5);
  const held = takeDataFolder(log.dataDir);
  const ended = await candor('fsck', log.dataDir);
  held.release();
  expect(ended).toMatchObject({ code: exitCodes.unavailable, stdout: '' });
  expect(ended.stderr).toMatch(
    /^candor: data folder .* is in use by another process; stop it or check a backup of it\n$/,
  );
  const empty = await candor('fsck', join(folder(), 'nothing'));
  expect(empty).toMatchObject({ code: exitCodes.unavailable, stdout: '' });
  expect(empty.stderr).toContain('there is no ledger.mdb');
});
