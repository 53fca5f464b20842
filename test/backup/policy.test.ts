import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseManifest } from '../../src/backup/manifest.ts';
import { alice, forRoles, openPolicy, withRules } from '../auth/policy-parts.ts';
import { backUp, newFolder, openParts, restore } from './fixture.ts';

async function changed(dataDir: string, ...changes: Parameters<typeof forRoles>[]): Promise<void> {
  const { policy, close } = await openPolicy(dataDir);
  for (const [operation, ...roles] of changes)
    await policy.replace(withRules(policy.current.rules, forRoles(operation, ...roles)), alice);
  await close();
}

async function backedUp(dataDir: string): Promise<string> {
  const parts = await openParts(dataDir);
  const { attributes } = await backUp(parts);
  await parts.close();
  expect(attributes.error).toBeUndefined();
  return attributes.path!;
}

test('the access policy is backed up and restored, regardless of later or interrupted changes', async () => {
  const dataDir = newFolder();
  // The log must be the first to open a new folder.
  await (await openParts(dataDir)).close();
  await changed(dataDir, ['listAlerts', 'auditor']);
  const path = await backedUp(dataDir);
  const { files } = parseManifest(readFileSync(join(path, 'manifest.json'), 'utf8'));
  expect(files.map(({ name }) => name)).toContain('policy.in-effect.json');

  await changed(dataDir, ['listAlerts', 'viewer'], ['getStatus']);
  writeFileSync(join(dataDir, 'policy.pending.json'), 'half');
  const { aside } = await restore(path, dataDir, { replace: true });
  expect(readdirSync(aside!).filter((name) => name.startsWith('policy'))).toEqual([
    'policy.in-effect.json',
    'policy.json',
    'policy.pending.json',
  ]);
  expect(statSync(join(dataDir, 'policy.in-effect.json')).mode & 0o777).toBe(0o600);
  const { policy, warnings, waiting, close } = await openPolicy(dataDir);
  expect([policy.current.version, policy.accessOf('listAlerts')]).toEqual([2, ['auditor']]);
  expect(JSON.parse(readFileSync(join(dataDir, 'policy.json'), 'utf8')).rules).toEqual(policy.current.rules);
  // The change is in the log or the outbox of the backup, but never twice.
  expect((await waiting()).length).toBeLessThanOrEqual(1);
  expect(warnings).toEqual([]);
  await close();
});

test('a backup from before policies existed leaves the current policy in place', async () => {
  const dataDir = newFolder();
  const parts = await openParts(dataDir);
  const { attributes } = await backUp(parts);
  await parts.close();
  expect(existsSync(join(attributes.path!, 'policy.in-effect.json'))).toBe(false);
  await changed(dataDir, ['listAlerts', 'auditor']);
  rmSync(join(dataDir, 'policy.json'));
  await restore(attributes.path!, dataDir, { replace: true });
  const { policy, close } = await openPolicy(dataDir);
  expect(policy.accessOf('listAlerts')).toEqual(['auditor']);
  await close();
});
