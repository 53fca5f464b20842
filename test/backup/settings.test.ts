import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DamagedBackupError } from '../../src/backup/backup-error.ts';
import { parseManifest } from '../../src/backup/manifest.ts';
import { backUp, newFolder, openParts, restore } from './fixture.ts';

const settings = '{"log.level": "warn", "admin_password": "correct horse battery"}\n';

/** Makes a backup of a folder with these settings. */
async function backedUp(text: string | undefined) {
  const dataDir = newFolder();
  const parts = await openParts(dataDir);
  if (text !== undefined) writeFileSync(join(dataDir, 'config.json'), text, { mode: 0o644 });
  const { attributes } = await backUp(parts);
  await parts.close();
  expect(attributes.error).toBeUndefined();
  return { dataDir, path: attributes.path! };
}

const read = (folder: string) => readFileSync(join(folder, 'config.json'), 'utf8');

test('settings in the data folder are backed up with their hash, readable only by the owner', async () => {
  const { path } = await backedUp(settings);
  expect(read(path)).toBe(settings);
  expect(statSync(join(path, 'config.json')).mode & 0o777).toBe(0o600);
  const { files } = parseManifest(readFileSync(join(path, 'manifest.json'), 'utf8'));
  expect(files).toContainEqual({
    name: 'config.json',
    size: settings.length,
    sha256: createHash('sha256').update(settings).digest('hex'),
  });
});

test('settings are restored into a folder without settings; existing settings are kept', async () => {
  const { dataDir, path } = await backedUp(settings);
  const empty = newFolder();
  expect((await restore(path, empty)).settings).toBe('restored');
  expect(read(empty)).toBe(settings);
  expect(statSync(join(empty, 'config.json')).mode & 0o777).toBe(0o600);

  writeFileSync(join(dataDir, 'config.json'), '{"log.level": "error"}');
  const replaced = await restore(path, dataDir, { replace: true });
  expect([replaced.settings, read(dataDir)]).toEqual(['kept', '{"log.level": "error"}']);
  expect(existsSync(join(replaced.aside!, 'config.json'))).toBe(false);
});

test('a backup without settings restores no settings', async () => {
  const { path } = await backedUp(undefined);
  const empty = newFolder();
  expect((await restore(path, empty)).settings).toBeUndefined();
  expect(existsSync(join(empty, 'config.json'))).toBe(false);
});

test('a restore rejects settings that differ from the manifest', async () => {
  const { path } = await backedUp(settings);
  const file = join(path, 'config.json');
  chmodSync(file, 0o600);
  writeFileSync(file, settings.replace('warn', 'info'));
  const empty = newFolder();
  mkdirSync(empty, { recursive: true });
  await expect(restore(path, empty)).rejects.toThrow(DamagedBackupError);
  expect(existsSync(join(empty, 'config.json'))).toBe(false);
});
