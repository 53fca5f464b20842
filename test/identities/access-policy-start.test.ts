import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { AccessRule } from '../../src/contract/resources/policy.ts';
import { operationIds } from '../../src/contract/routes.ts';
import { ServiceError } from '../../src/errors.ts';
import { VolumeQueue } from '../../src/files/volume-queue.ts';
import { code, folder, onlyAuditors, opened } from './opened-policy.ts';
import { alice, forRoles, openPolicy, rewriteStored, system, withRules } from './policy-parts.ts';

describe('a start', () => {
  test('loads a file that was edited while the service was stopped, and records system as the actor', async () => {
    const { policy, close, dataDir, edit } = await opened();
    edit(withRules(policy.current.rules, onlyAuditors));
    await close();
    const again = await opened(dataDir);
    expect([again.policy.current.version, again.policy.accessOf('listAlerts')]).toEqual([2, ['auditor']]);
    expect(await again.waiting()).toMatchObject([{ kind: 'policy.reloaded', actor: 'system' }]);
  });

  test.each([
    ['cannot be read as rules', 'rules: ['],
    ['locks out all administrators', JSON.stringify({ rules: [] })],
  ])('keeps the policy and the file, and warns, if the file %s', async (_, text) => {
    const { close, dataDir, policy } = await opened();
    await close();
    writeFileSync(join(dataDir, 'policy.json'), text);
    const again = await opened(dataDir);
    const { file_refused, ...current } = again.policy.current;
    expect(current).toEqual(policy.current);
    expect(again.warnings).toMatchObject([{ code: 'CONFLICT' }]);
    expect(file_refused).toMatch(/access policy file cannot be used|could not be changed again/);
    expect(readFileSync(join(dataDir, 'policy.json'), 'utf8')).toBe(text);
    expect(await code(again.policy.reload(alice))).toContain('CONFLICT');
    expect(again.policy.current.file_refused).toBe(file_refused);
    again.edit(policy.current.rules);
    expect(await again.policy.reload(alice)).toEqual(policy.current);
  });

  test('reports the file as rejected from a failed reload until a change writes the file', async () => {
    const { policy, dataDir } = await opened();
    const { rules } = policy.current;
    writeFileSync(join(dataDir, 'policy.json'), '{');
    expect(await code(policy.reload(alice))).toContain('CONFLICT');
    expect(policy.current.file_refused).toMatch(/cannot be used/);
    expect((await policy.replace(rules, alice)).file_refused).toBeUndefined();
    expect(await policy.reload(alice)).toEqual(policy.current);
  });

  test('creates the configured file while the default is in effect', async () => {
    const dataDir = folder();
    const file = join(dataDir, 'mine.yaml');
    const { policy, warnings, waiting, close } = await opened(dataDir, { file });
    expect(warnings).toEqual([]);
    expect(parse(readFileSync(file, 'utf8'))).toEqual({ rules: policy.current.rules });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await waiting()).toEqual([]);
    await close();
    const again = await opened(dataDir, { file });
    expect([again.policy.current, again.warnings]).toEqual([policy.current, []]);
  });

  test('reports that the configured file cannot be created', async () => {
    const { policy, warnings } = await opened(folder(), { file: '/proc/nowhere/policy.yaml' });
    expect(policy.current).toMatchObject({
      version: 1,
      file_refused: 'the access policy file cannot be written (ENOENT)',
    });
    expect(warnings).toHaveLength(1);
  });

  test('adds default rules for new operations and removes rules of removed operations', async () => {
    const { close, dataDir, policy } = await opened();
    await close();
    const isNew = (operation: string) => operation === 'listAlerts' || operation === 'getAlert';
    const old = [
      ...policy.current.rules.filter((rule: AccessRule) => !isNew(rule.operation)),
      forRoles('oldOperation', 'viewer'),
    ];
    const operations = [...operationIds.filter((operation) => !isNew(operation)), 'oldOperation'];
    await rewriteStored(dataDir, (stored) => ({ ...stored, rules: old, operations }));
    writeFileSync(join(dataDir, 'policy.json'), JSON.stringify({ rules: old }));
    const again = await opened(dataDir);
    expect(again.policy.current.rules).toEqual(policy.current.rules);
    expect(again.warnings).toEqual([]);
    expect(await again.waiting()).toMatchObject([
      {
        kind: 'policy.reloaded',
        data: { added_count: 2, removed_count: 1, removed: [{ operation: 'oldOperation' }] },
      },
    ]);
    await again.close();
    const third = await opened(dataDir);
    expect([third.policy.current.version, third.warnings]).toEqual([2, []]);
  });

  test('keeps a removed rule removed, and adds no default rules to the rules of a configured file', async () => {
    const { close, dataDir, policy } = await opened();
    const rules = policy.current.rules.filter(({ operation }) => operation !== 'listAlerts');
    await policy.replace(rules, alice);
    await close();
    const again = await opened(dataDir);
    expect(again.policy.accessOf('listAlerts')).toEqual([]);
    await again.close();
    const operations = operationIds.filter((one) => one !== 'listAlerts');
    await rewriteStored(dataDir, (stored) => ({ ...stored, operations }));
    writeFileSync(join(dataDir, 'mine.json'), JSON.stringify({ rules }));
    const decided = await opened(dataDir, { file: join(dataDir, 'mine.json') });
    expect([decided.policy.accessOf('listAlerts'), decided.policy.current.version]).toEqual([[], 2]);
    expect(decided.reader.storedPolicy()?.operations).toEqual(operationIds);
  });

  test('warns if the configured file is missing', async () => {
    const { close, dataDir, policy } = await opened();
    await policy.replace(withRules(policy.current.rules, onlyAuditors), alice);
    await close();
    const missed = await opened(dataDir, { file: join(dataDir, 'none.yaml') });
    expect(missed.warnings).toMatchObject([{ code: 'CONFLICT', details: { reason: 'does not exist' } }]);
    expect(missed.policy.current.file_refused).toBe('the access policy file does not exist');
  });

  test('is refused with a damaged policy', async () => {
    const { close, dataDir } = await opened();
    await close();
    const path = join(dataDir, 'siem.mdb');
    const bytes = readFileSync(path);
    for (let at = bytes.indexOf('listAlerts'); at >= 0; at = bytes.indexOf('listAlerts', at + 1)) bytes[at]! ^= 1;
    writeFileSync(path, bytes);
    await expect(openPolicy(dataDir)).rejects.toThrow(/row current of table access-policy/);
  });
});

describe('a change that fails', () => {
  test('because the outbox is full leaves the policy unchanged, and the next change succeeds', async () => {
    let full = true;
    const { policy, waiting, changes } = await opened(folder(), {
      commit: (commit) => (change, by) =>
        full && change.event ? Promise.reject(new ServiceError('UNAVAILABLE', 'outbox full')) : commit(change, by),
    });
    const rules = withRules(policy.current.rules, onlyAuditors);
    expect(await code(policy.replace(rules, alice))).toEqual(['UNAVAILABLE', undefined]);
    expect([policy.current.version, changes(), await waiting()]).toEqual([1, 0, []]);
    full = false;
    expect((await policy.replace(rules, alice)).version).toBe(2);
    expect(await waiting()).toHaveLength(1);
  });

  test.each(['before', 'after'])(
    'because the store thread was lost %s the commit has the outcome that the stored policy shows',
    async (when) => {
      let lost = true;
      const { policy, waiting, changes, dataDir } = await opened(folder(), {
        commit: (commit) => async (change, by) => {
          if (!lost || !change.event) return commit(change, by);
          lost = false;
          if (when === 'after') await commit(change, by);
          throw new ServiceError('WORKER_LOST', 'the store died');
        },
      });
      const rules = withRules(policy.current.rules, onlyAuditors);
      const isMade = when === 'after';
      expect(await code(policy.replace(rules, alice))).toEqual(isMade ? policy.current : ['WORKER_LOST', undefined]);
      expect([policy.current.version, changes()]).toEqual(isMade ? [2, 1] : [1, 0]);
      expect(JSON.parse(readFileSync(join(dataDir, 'policy.json'), 'utf8'))).toEqual({
        rules: policy.current.rules,
      });
      expect((await policy.replace(rules, alice)).version).toBe(2);
      expect([(await waiting()).length, changes()]).toEqual([1, 1]);
    },
  );

  test('because the file cannot be replaced is not undone, and a reload replaces the file', async () => {
    const dataDir = folder();
    const file = join(dataDir, 'sub', 'mine.json');
    mkdirSync(join(dataDir, 'sub'));
    let isOpen = false;
    const { policy, warnings, waiting } = await opened(dataDir, {
      file,
      onStep: (step) => isOpen && step === 'committed' && rmSync(`${file}.next`),
    });
    isOpen = true;
    await policy.replace(withRules(policy.current.rules, onlyAuditors), system);
    expect([policy.current.version, warnings.length, (await waiting()).length]).toEqual([2, 1, 1]);
    expect(policy.current.file_refused).toMatch(/could not be replaced/);
    isOpen = false;
    const { file_refused, rules } = await policy.reload(alice);
    expect([file_refused, policy.accessOf('listAlerts')]).toEqual([undefined, ['auditor']]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ rules });
  });
});

describe('a volume that does not respond', () => {
  test('does not change the policy in effect: a start warns, and a reload and a change fail with UNAVAILABLE', async () => {
    const { policy, close, dataDir } = await opened();
    await policy.replace(withRules(policy.current.rules, onlyAuditors), alice);
    await close();
    const volume = new VolumeQueue('the file', 50);
    let respond: () => void = () => undefined;
    const hung = volume.run(() => new Promise<void>((resolve) => (respond = resolve)));
    await expect(hung).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const again = await opened(dataDir, { volume });
    expect(again.warnings).toMatchObject([{ details: { reason: 'volume_hangs' } }]);
    const { rules } = again.policy.current;
    for (const work of [
      again.policy.reload(alice),
      again.policy.replace(withRules(rules, forRoles('getAlert')), alice),
    ])
      expect(await code(work)).toEqual(['UNAVAILABLE', 'volume_hangs']);
    expect([again.policy.current.version, again.policy.accessOf('listAlerts')]).toEqual([2, ['auditor']]);
    respond();
    await expect.poll(() => code(again.policy.reload(alice)), { timeout: 60_000 }).toEqual(policy.current);
  });
});
