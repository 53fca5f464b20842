/** Disks that are full and threads that are lost while the policy is changed. */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKept } from '../../src/auth/policy/kept-policy.ts';
import type { AccessRule } from '../../src/contract/resources/policy.ts';
import { ServiceError } from '../../src/errors.ts';
import { code, folder, onlyAuditors, opened } from './opened-policy.ts';
import { alice, forRoles, withRules } from './policy-parts.ts';

/** Whatever is written to this file finds no room. */
const fill = (dataDir: string, name: string) => symlinkSync('/dev/full', join(dataDir, `${name}.new`));
const empty = (dataDir: string, name: string) => rmSync(join(dataDir, `${name}.new`), { force: true });
const filesOf = (dataDir: string) => readdirSync(dataDir).filter((name) => name.startsWith('policy.'));
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const edited = (rules: readonly AccessRule[]) => withRules(rules, onlyAuditors);

test.each(['policy.json.next', 'policy.pending.json'])(
  'a disk that is full at %s is UNAVAILABLE, and everything is as it was',
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
    'it is no file',
  ]);
  expect([policy.current.version, await waiting()]).toEqual([1, []]);
});

test('a change that is refused leaves no file behind', async () => {
  const { policy, dataDir } = await opened(folder(), {
    record: () => Promise.reject(new ServiceError('UNAVAILABLE', 'outbox full')),
  });
  const before = filesOf(dataDir);
  expect(await code(policy.replace(edited(policy.current.rules), alice))).toEqual(['UNAVAILABLE', undefined]);
  expect(filesOf(dataDir)).toEqual(before);
});

test('what is recorded is in effect at once, and on disk as soon as there is room', async () => {
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
  // No other change of the rules: one of them would be forgotten. Principals can be changed.
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

test('a start that cannot write what was recorded has it in effect all the same', async () => {
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

test('a reload whose thread was lost is finished by itself, and no fault of the file', async () => {
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

test('a policy that was lost is the default again, with an entry that says so', async () => {
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

test('a policy that was lost comes back from the file that people edit', async () => {
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
