import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { policyReloaded } from '../../src/contract/critical-events.ts';
import type { AccessRule } from '../../src/contract/resources/policy.ts';
import { operationIds } from '../../src/contract/routes.ts';
import { ServiceError } from '../../src/errors.ts';
import { uuid7 } from '../../src/uuid.ts';
import { code, folder, onlyAuditors, opened } from './opened-policy.ts';
import { alice, forRoles, openPolicy, system, withRules } from './policy-parts.ts';

describe('a start', () => {
  test('loads a file that was edited while the service was stopped, as system', async () => {
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
  ])('with a file that %s keeps the policy and the file, and warns', async (_, text) => {
    const { close, dataDir, policy } = await opened();
    await close();
    writeFileSync(join(dataDir, 'policy.json'), text);
    const again = await opened(dataDir);
    const { file_refused, ...current } = again.policy.current;
    expect(current).toEqual(policy.current);
    expect(again.warnings).toMatchObject([{ code: 'CONFLICT' }]);
    expect(file_refused).toMatch(/file of the access policy cannot be used|could not be changed again/);
    expect(readFileSync(join(dataDir, 'policy.json'), 'utf8')).toBe(text);
    expect(await code(again.policy.reload(alice))).toContain('CONFLICT');
    expect(again.policy.current.file_refused).toBe(file_refused);
    again.edit(policy.current.rules);
    expect(await again.policy.reload(alice)).toEqual(policy.current);
  });

  test('the file is reported as rejected from a failed reload until a change writes it', async () => {
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

  test('that cannot create the file reports it', async () => {
    const { policy, warnings } = await opened(folder(), { file: '/proc/nowhere/policy.yaml' });
    expect(policy.current).toMatchObject({
      version: 1,
      file_refused: 'the file of the access policy cannot be written (ENOENT)',
    });
    expect(warnings).toHaveLength(1);
  });

  test('adds default rules for new operations and removes rules of removed operations', async () => {
    const { close, dataDir, policy } = await opened();
    await close();
    const path = join(dataDir, 'policy.in-effect.json');
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    const isNew = (operation: string) => operation === 'listAlerts' || operation === 'getAlert';
    const old = [
      ...kept.rules.filter((rule: AccessRule) => !isNew(rule.operation)),
      forRoles('oldOperation', 'viewer'),
    ];
    const operations = [...operationIds.filter((operation) => !isNew(operation)), 'oldOperation'];
    writeFileSync(path, JSON.stringify({ ...kept, rules: old, operations }));
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

  test('a removed rule stays removed, and a configured file is authoritative', async () => {
    const { close, dataDir, policy } = await opened();
    const rules = policy.current.rules.filter(({ operation }) => operation !== 'listAlerts');
    await policy.replace(rules, alice);
    await close();
    const again = await opened(dataDir);
    expect(again.policy.accessOf('listAlerts')).toEqual([]);
    await again.close();
    const path = join(dataDir, 'policy.in-effect.json');
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(
      path,
      JSON.stringify({ ...kept, operations: operationIds.filter((one) => one !== 'listAlerts') }),
    );
    writeFileSync(join(dataDir, 'mine.json'), JSON.stringify({ rules }));
    const decided = await opened(dataDir, { file: join(dataDir, 'mine.json') });
    expect([decided.policy.accessOf('listAlerts'), decided.policy.current.version]).toEqual([[], 2]);
    expect(JSON.parse(readFileSync(path, 'utf8')).operations).toEqual(operationIds);
  });

  test('warns if the configured file is missing or an interrupted change cannot be finished', async () => {
    const { close, dataDir, policy } = await opened();
    await policy.replace(withRules(policy.current.rules, onlyAuditors), alice);
    await close();
    const missed = await opened(dataDir, { file: join(dataDir, 'none.yaml') });
    expect(missed.warnings).toMatchObject([{ code: 'CONFLICT', details: { reason: 'does not exist' } }]);
    expect(missed.policy.current.file_refused).toBe('the file of the access policy does not exist');
    await missed.close();
    const kept = JSON.parse(readFileSync(join(dataDir, 'policy.in-effect.json'), 'utf8'));
    const rules = withRules(kept.rules, forRoles('getAlert'));
    const event = policyReloaded({ version: 3, added: [], removed: [], changed: [] }, 'system');
    const pending = {
      entry_id: uuid7(Date.now()),
      event,
      policy: { ...kept, version: 3, rules },
      writes_file: true,
    };
    writeFileSync(join(dataDir, 'policy.pending.json'), JSON.stringify(pending));
    let full = true;
    const parts = await opened(dataDir, {
      record: (event, id) =>
        full ? Promise.reject(new ServiceError('UNAVAILABLE', 'outbox full')) : parts.store.record(event, id),
    });
    expect([parts.policy.current.version, parts.warnings.length]).toEqual([2, 1]);
    full = false;
    // The pending change is finished first, so it has written the file by then.
    expect((await parts.policy.reload(alice)).version).toBe(3);
    expect(parts.policy.accessOf('getAlert')).toEqual([]);
    expect(await parts.waiting()).toHaveLength(2);
  });

  test('is refused with a damaged policy', async () => {
    const { close, dataDir } = await opened();
    await close();
    writeFileSync(join(dataDir, 'policy.in-effect.json'), '{"version":1}');
    await expect(openPolicy(dataDir)).rejects.toThrow(/policy\.in-effect\.json is damaged/);
  });
});

describe('when the change cannot be recorded', () => {
  test('nothing changes, and the next change succeeds', async () => {
    let full = true;
    const parts = await opened(folder(), {
      record: (event, id) =>
        full ? Promise.reject(new ServiceError('UNAVAILABLE', 'outbox full')) : parts.store.record(event, id),
    });
    const { policy, waiting, changes } = parts;
    const rules = withRules(policy.current.rules, onlyAuditors);
    expect(await code(policy.replace(rules, alice))).toEqual(['UNAVAILABLE', undefined]);
    expect([policy.current.version, changes(), await waiting()]).toEqual([1, 0, []]);
    full = false;
    expect((await policy.replace(rules, alice)).version).toBe(2);
    expect(await waiting()).toHaveLength(1);
  });

  test('because the thread was lost, it is finished before the next change and logged once', async () => {
    let lost = true;
    const parts = await opened(folder(), {
      record: async (event, id) => {
        await parts.store.record(event, id);
        if (lost) throw new ServiceError('WORKER_LOST', 'the store died');
      },
    });
    const { policy, waiting, changes } = parts;
    const rules = withRules(policy.current.rules, onlyAuditors);
    expect(await code(policy.replace(rules, alice))).toEqual(['WORKER_LOST', undefined]);
    expect(policy.current.version).toBe(1);
    lost = false;
    expect((await policy.replace(rules, alice)).version).toBe(2);
    expect([(await waiting()).length, changes()]).toEqual([1, 1]);
  });

  test('a file that fails at the last step does not undo a recorded change', async () => {
    const dataDir = folder();
    const file = join(dataDir, 'sub', 'mine.json');
    mkdirSync(join(dataDir, 'sub'));
    const { policy, warnings, waiting } = await opened(dataDir, {
      file,
      onStep: (step) => step === 'recorded' && rmSync(join(dataDir, 'sub'), { recursive: true }),
    });
    await policy.replace(withRules(policy.current.rules, onlyAuditors), system);
    expect([policy.current.version, warnings.length, (await waiting()).length]).toEqual([2, 1, 1]);
  });
});
