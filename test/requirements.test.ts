import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSettings } from '../src/config/load.ts';
import { openStoredSettings } from '../src/config/stored-settings.ts';
import { requirements } from '../src/requirements.ts';
import { loadPolicy } from '../src/witness/policy-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-requirements-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const written = (text: string): string => {
  const path = join(folder, 'hidden');
  writeFileSync(path, text);
  return path;
};

test.each([
  ['root:*:20228:0:99999:7:::', 'line 1: unknown line'],
  ['\n-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIB', 'line 2: unknown line'],
  ['log hunter2', 'line 1: bad key'],
  ['quorum hunter2', 'line 1: unknown name'],
  ['group hunter2 all hunter3', 'line 1: unknown name'],
  ['# hunter2', 'no quorum'],
])('a file of another kind shows nothing of itself: %j', async (text, place) => {
  const path = written(text);
  const env = { CANDOR_DATA_DIR: folder };
  const stored = openStoredSettings(env, loadSettings(env), requirements);
  const refused = await stored.change({ 'witness.policy': path }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'INVALID_REQUEST',
    details: {
      field: 'settings.witness.policy',
      reason: `witness policy ${path} is not valid: ${place}`,
    },
  });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ 'witness.policy': path }));
  expect((await stored.read()).problem).toBe(`witness.policy: witness policy ${path} is not valid: ${place}`);
  rmSync(join(folder, 'config.json'));
});

test('a start, which its operator reads, shows the word', () => {
  expect(() => loadPolicy(written('root:*:20228'))).toThrow(
    /line 1: "root:\*:20228" is not a keyword; use one of/,
  );
});

test.each([
  ['/proc/x', /lies in proc, which keeps no files/],
  ['/proc/1/x/y', /lies in proc, which keeps no files/],
  ['/sys/x', /lies in sysfs, which keeps no files/],
  ['/dev/x', /lies in devices, which keeps no files/],
  ['{}/file/x', /file\/x cannot be used \(ENOTDIR\)/],
  ['{}/link/x', /link is a link to nothing/],
  ['{}/pipe', /pipe is not a folder/],
  ['{}/keys', /wanted a place of its own: keys in the data folder is for other data/],
  ['{}/rules/backups', /wanted a place of its own: rules in the data folder/],
])('a folder of backups in %s is refused', async (path, reason) => {
  const env = { CANDOR_DATA_DIR: folder };
  for (const name of ['file', 'link', 'pipe']) rmSync(join(folder, name), { force: true });
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const stored = openStoredSettings(env, loadSettings(env), requirements);
  const dir = path.replace('{}', folder);
  await expect(stored.change({ 'backup.dir': dir })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    details: { field: 'settings.backup.dir', reason: expect.stringMatching(reason) },
  });
});

test('a folder of backups that is yet to be made is accepted, in the data folder and elsewhere', async () => {
  const env = { CANDOR_DATA_DIR: folder };
  const stored = openStoredSettings(env, loadSettings(env), requirements);
  for (const dir of [join(folder, 'backups'), join(folder, 'more', 'backups')])
    expect((await stored.change({ 'backup.dir': dir })).pending).toEqual({ 'backup.dir': dir });
  rmSync(join(folder, 'config.json'));
});

test.each(['ledger.anchor_path', 'policy.file', 'detection.rules_dir'])('%s cannot be a database', (name) => {
  const variable = `CANDOR_${name.replace('.', '_').toUpperCase()}`;
  const env = { CANDOR_DATA_DIR: folder, [variable]: join(folder, 'siem.mdb') };
  expect(() => loadSettings(env)).toThrow(`${name}: came "${join(folder, 'siem.mdb')}"`);
});
