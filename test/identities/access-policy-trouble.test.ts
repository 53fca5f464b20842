/** Full disks during changes of the policy, and lost files. */
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AccessRule } from '../../src/contract/resources/policy.ts';
import { ServiceError } from '../../src/errors.ts';
import { code, folder, onlyAuditors, opened } from './opened-policy.ts';
import { alice, rewriteStored, withRules } from './policy-parts.ts';

/** Makes writes to this file fail with ENOSPC. */
const fill = (dataDir: string, name: string) => symlinkSync('/dev/full', join(dataDir, `${name}.new`));
const filesOf = (dataDir: string) => readdirSync(dataDir).filter((name) => name.startsWith('policy.'));
const edited = (rules: readonly AccessRule[]) => withRules(rules, onlyAuditors);

test('a change on a full disk fails with UNAVAILABLE, and the policy is unchanged', async () => {
  const { policy, dataDir, waiting, changes } = await opened();
  const before = [policy.current, filesOf(dataDir)];
  fill(dataDir, 'policy.json.next');
  expect(await code(policy.replace(edited(policy.current.rules), alice))).toEqual(['UNAVAILABLE', 'ENOSPC']);
  expect([policy.current, filesOf(dataDir)]).toEqual(before);
  expect([changes(), await waiting()]).toEqual([0, []]);
  expect((await policy.replace(edited(policy.current.rules), alice)).version).toBe(2);
});

test('a change fails with CONFLICT if the policy file is a folder, and nothing is recorded', async () => {
  const { policy, dataDir, waiting } = await opened();
  rmSync(join(dataDir, 'policy.json'));
  mkdirSync(join(dataDir, 'policy.json'));
  expect(await code(policy.replace(edited(policy.current.rules), alice))).toEqual([
    'CONFLICT',
    'it is not a regular file',
  ]);
  expect([policy.current.version, await waiting()]).toEqual([1, []]);
});

test('a rejected change leaves no file behind', async () => {
  const { policy, dataDir } = await opened(folder(), {
    commit: (commit) => (change, by) =>
      change.event ? Promise.reject(new ServiceError('UNAVAILABLE', 'outbox full')) : commit(change, by),
  });
  const before = filesOf(dataDir);
  expect(await code(policy.replace(edited(policy.current.rules), alice))).toEqual(['UNAVAILABLE', undefined]);
  expect(filesOf(dataDir)).toEqual(before);
});

test('a lost policy is replaced by the default and logged', async () => {
  const { policy, dataDir, close } = await opened();
  await policy.replace(edited(policy.current.rules), alice);
  await close();
  await rewriteStored(dataDir, () => undefined);
  rmSync(join(dataDir, 'policy.json'));
  const again = await opened(dataDir, { isUsed: true });
  expect(again.warnings).toEqual([expect.stringContaining('the access policy was lost')]);
  expect([again.policy.current.version, again.policy.accessOf('listAlerts')]).toEqual([
    1,
    ['viewer', 'analyst', 'admin'],
  ]);
  expect((await again.waiting()).at(-1)).toMatchObject({
    kind: 'policy.reloaded',
    actor: 'system',
    data: { version: 1, added_count: again.policy.current.rules.length, removed_count: 0 },
  });
  await again.close();
  expect(await (await opened(dataDir, { isUsed: true })).waiting()).toHaveLength(2);
});

test('a lost policy is restored from the editable file', async () => {
  const { policy, dataDir, close } = await opened();
  await policy.replace(edited(policy.current.rules), alice);
  await close();
  await rewriteStored(dataDir, () => undefined);
  const again = await opened(dataDir, { isUsed: true });
  expect(again.policy.accessOf('listAlerts')).toEqual(['auditor']);
  expect((await again.waiting()).map(({ kind }) => kind)).toEqual([
    'policy.rule_edited',
    'policy.reloaded',
    'policy.reloaded',
  ]);
});

test('a lost editable file is written again, without a change of the policy', async () => {
  const { policy, dataDir, close } = await opened();
  await policy.replace(edited(policy.current.rules), alice);
  await close();
  rmSync(join(dataDir, 'policy.json'));
  const again = await opened(dataDir, { isUsed: true });
  expect([again.policy.current.version, again.warnings, filesOf(dataDir)]).toEqual([2, [], ['policy.json']]);
});
