import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseManifest, writeManifest } from '../../src/backup/manifest.ts';
import type { StoredPolicy } from '../../src/identities/store/policy.ts';
import { alice, forRoles, openPolicy, rewriteStored, withRules } from '../identities/policy-parts.ts';
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

test('the access policy is backed up and restored, regardless of later changes', async () => {
  const dataDir = newFolder();
  // The log must be the first to open a new folder.
  await (await openParts(dataDir)).close();
  await changed(dataDir, ['listAlerts', 'auditor']);
  const path = await backedUp(dataDir);

  await changed(dataDir, ['listAlerts', 'viewer'], ['getStatus']);
  const { aside } = await restore(path, dataDir, { replace: true });
  expect(readdirSync(aside!).filter((name) => name.startsWith('policy'))).toEqual(['policy.json']);
  const { policy, warnings, waiting, close } = await openPolicy(dataDir);
  expect([policy.current.version, policy.accessOf('listAlerts')]).toEqual([2, ['auditor']]);
  expect(JSON.parse(readFileSync(join(dataDir, 'policy.json'), 'utf8')).rules).toEqual(policy.current.rules);
  // The change is in the log or the outbox of the backup, but never twice.
  expect((await waiting()).length).toBeLessThanOrEqual(1);
  expect(warnings).toEqual([]);
  await close();
});

test('the access policy is restored from the policy file in a backup of an earlier version', async () => {
  const dataDir = newFolder();
  await (await openParts(dataDir)).close();
  await changed(dataDir, ['listAlerts', 'auditor']);
  let stored: StoredPolicy | undefined;
  await rewriteStored(dataDir, (policy) => {
    stored = policy;
    return undefined;
  });
  const path = await backedUp(dataDir);
  addFile(path, 'policy.in-effect.json', JSON.stringify(stored));

  writeFileSync(join(dataDir, 'policy.pending.json'), 'half');
  const { aside } = await restore(path, dataDir, { replace: true });
  expect(readdirSync(aside!).filter((name) => name.startsWith('policy'))).toEqual([
    'policy.json',
    'policy.pending.json',
  ]);
  expect(statSync(join(dataDir, 'policy.in-effect.json')).mode & 0o777).toBe(0o600);
  const { policy, warnings, close } = await openPolicy(dataDir, { isUsed: true });
  expect([policy.current, warnings]).toMatchObject([{ version: 2, rules: stored!.rules }, []]);
  expect(existsSync(join(dataDir, 'policy.in-effect.json'))).toBe(false);
  await close();
});

test('a backup that was made before policies existed restores the default policy, which is logged', async () => {
  const dataDir = newFolder();
  const parts = await openParts(dataDir);
  const { attributes } = await backUp(parts);
  await parts.close();
  await changed(dataDir, ['listAlerts', 'auditor']);
  await restore(attributes.path!, dataDir, { replace: true });
  const { policy, waiting, close } = await openPolicy(dataDir, { isUsed: true });
  expect(policy.accessOf('listAlerts')).toEqual(['viewer', 'analyst', 'admin']);
  expect(await waiting()).toMatchObject([{ kind: 'policy.reloaded', data: { version: 1 } }]);
  await close();
});

/** Adds a file to a backup. */
function addFile(backup: string, name: string, text: string): void {
  writeFileSync(join(backup, name), text, { mode: 0o600 });
  const manifest = parseManifest(readFileSync(join(backup, 'manifest.json'), 'utf8'));
  const file = { name, size: Buffer.byteLength(text), sha256: hash('sha256', text) };
  writeFileSync(
    join(backup, 'manifest.json'),
    writeManifest({ ...manifest, files: [...manifest.files, file], size: manifest.size + file.size }),
  );
}
