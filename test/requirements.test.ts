import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
      reason: `the policy of witnesses ${path} can not be used: ${place}`,
    },
  });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ 'witness.policy': path }));
  expect(stored.read().problem).toBe(
    `witness.policy: the policy of witnesses ${path} can not be used: ${place}`,
  );
  rmSync(join(folder, 'config.json'));
});

test('a start, which its operator reads, shows the word', () => {
  expect(() => loadPolicy(written('root:*:20228'))).toThrow(/line 1: "root:\*:20228", wanted one of/);
});
