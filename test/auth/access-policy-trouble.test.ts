/** Full disks and lost threads during changes of the policy. */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKept } from '../../src/auth/policy/kept-policy.ts';
import type { AccessRule } from '../../src/contract/resources/policy.ts';
import { ServiceError } from '../../src/errors.ts';
import { code, folder, onlyAuditors, opened } from './opened-policy.ts';
import { alice, forRoles, withRules } from './policy-parts.ts';

/** Writes to this file fail with ENOSPC. */
const fill = (dataDir: string, name: string) => symlinkSync('/dev/full', join(dataDir, `${name}.new`));
const empty = (dataDir: string, name: string) => rmSync(join(dataDir, `${name}.new`), { force: true });
const filesOf = (dataDir: string) => readdirSync(dataDir).filter((name) => name.startsWith('policy.'));
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const edited = (rules: readonly AccessRule[]) => withRules(rules, onlyAuditors);

test.each(['policy.json.next', 'policy.pending.json'])(
  'a full disk at %s is UNAVAILABLE, and nothing changes',
  async (name) => {
    const { policy, dataDir, waiting, changes } = await opened();
    const before = [policy.current, filesOf(dataDir)];
    fill(dataDir, name);
    expect(await code(policy.replace(edited(policy.current.rules), alice))).toEqual([
      'UNAVAILABLE',
      'ENOSPC',
    ]);
    expect([policy.current, filesOf(dataDir)]).toEqual(before);
    expect([changes(), await waiting()]).toEqual([0, []]);
    expect((await policy.replace(edited(policy.current.rules), alice)).version).toBe(2);
  },
);

test('a folder where the file should be is CONFLICT, and nothing is recorded', async () => {
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
    record: () => Promise.reject(new ServiceError('UNAVAILABLE', 'outbox full')),
  });
  const before = filesOf(dataDir);
  expect(await code(policy.replace(edited(policy.current.rules), alice))).toEqual(['UNAVAILABLE', undefined]);
  expect(filesOf(dataDir)).toEqual(before);
});

test('a recorded change takes effect immediately and is written when the disk has space', async () => {
  let recorded = 0;
  const parts = await opened(folder(), {
    retryMs: 10,
    record: (event, id) => {
      recorded++;
      return parts.store.record(event, id);
    },
  });
  const { policy, dataDir, waiting, changes, addPrincipal, warnings } = parts;
  fill(dataDir, 'policy.in-effect.json');
  const changed = await policy.replace(edited(policy.current.rules), alice);
  expect([changed.version, policy.accessOf('listAlerts'), changes()]).toEqual([2, ['auditor'], 1]);
  expect((await readKept(dataDir))?.version).toBe(1);
  expect(warnings.length).toBeGreaterThan(0);
  // Further changes of the rules are rejected, since one of them would be lost. Principals can be changed.
  expect(await code(policy.replace(withRules(changed.rules, forRoles('getAlert')), alice))).toEqual([
    'UNAVAILABLE',
    'policy_not_written',
  ]);
  const { id } = await addPrincipal({ roles: ['viewer'] });
  expect(await policy.changePrincipal(id, { roles: [] }, async () => 'changed')).toBe('changed');

  empty(dataDir, 'policy.in-effect.json');
  await until(() => !existsSync(join(dataDir, 'policy.pending.json')));
  expect((await readKept(dataDir))?.version).toBe(2);
  expect((await policy.replace(withRules(changed.rules, forRoles('getAlert')), alice)).version).toBe(3);
  expect((await waiting()).map(({ data }) => data.version)).toEqual([2, 3]);
  expect(recorded).toBe(2);
});

test('after a start that cannot write a recorded change, the change is in effect nevertheless', async () => {
  const { policy, dataDir, close } = await opened();
  fill(dataDir, 'policy.in-effect.json');
  await policy.replace(edited(policy.current.rules), alice);
  await close();
  const again = await opened(dataDir, { retryMs: 10 });
  expect([again.policy.current.version, again.policy.accessOf('listAlerts')]).toEqual([2, ['auditor']]);
  expect(again.warnings.length).toBeGreaterThan(0);
  empty(dataDir, 'policy.in-effect.json');
  await until(() => !existsSync(join(dataDir, 'policy.pending.json')));
  expect(await again.waiting()).toHaveLength(1);
  await again.close();
  expect((await opened(dataDir)).policy.current.version).toBe(2);
});

test('a reload that loses its thread is finished automatically and does not blame the file', async () => {
  let lost = true;
  const parts = await opened(folder(), {
    retryMs: 10,
    record: async (event, id) => {
      await parts.store.record(event, id);
      if (lost) throw new ServiceError('WORKER_LOST', 'the store died');
    },
  });
  const { policy, edit, waiting } = parts;
  edit([forRoles('dropTables')]);
  expect(await code(policy.reload(alice))).toContain('CONFLICT');
  const reason = policy.current.file_refused;
  edit(edited(policy.current.rules));
  expect(await code(policy.reload(alice))).toEqual(['WORKER_LOST', undefined]);
  expect(policy.current).toMatchObject({ version: 1, file_refused: reason });
  lost = false;
  await until(() => policy.current.version === 2);
  expect(policy.current.file_refused).toBeUndefined();
  expect([policy.accessOf('listAlerts'), (await waiting()).length]).toEqual([['auditor'], 1]);
});

test('a lost policy is replaced by the default and logged', async () => {
  const { policy, dataDir, close } = await opened();
  await policy.replace(edited(policy.current.rules), alice);
  await close();
  for (const name of filesOf(dataDir)) rmSync(join(dataDir, name));
  const again = await opened(dataDir, { isUsed: true });
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
  rmSync(join(dataDir, 'policy.in-effect.json'));
  const again = await opened(dataDir, { isUsed: true });
  expect(again.policy.accessOf('listAlerts')).toEqual(['auditor']);
  expect((await again.waiting()).map(({ kind }) => kind)).toEqual([
    'policy.rule_edited',
    'policy.reloaded',
    'policy.reloaded',
  ]);
});
