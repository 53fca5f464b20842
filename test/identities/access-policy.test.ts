import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { policyRuleEdited } from '../../src/contract/critical-events.ts';
import { type AccessRule, Policy } from '../../src/contract/resources/policy.ts';
import { operationIds, routeOf } from '../../src/contract/routes.ts';
import { validate } from '../../src/contract/validate.ts';
import { roles } from '../../src/contract/vocabulary.ts';
import { limits } from '../../src/limits.ts';
import { code, folder, onlyAuditors, opened } from './opened-policy.ts';
import { alice, forRoles, withRules } from './policy-parts.ts';

describe('the first start', () => {
  test('stores the default policy, readable only by the service, without a log entry', async () => {
    const { policy, dataDir, waiting, changes } = await opened();
    validate(Policy, policy.current);
    expect([policy.current.version, changes(), await waiting()]).toEqual([1, 0, []]);
    for (const operation of operationIds) {
      const { access } = routeOf(operation);
      const given = policy.accessOf(operation);
      expect([operation, given === 'public' ? given : new Set(given)]).toEqual([
        operation,
        access === 'public' ? access : new Set(access),
      ]);
    }
    expect(statSync(join(dataDir, 'policy.json')).mode & 0o777).toBe(0o600);
  });

  test('applies the settings for access to metrics and entries, and applies changed settings at the next start', async () => {
    const { policy, close, dataDir } = await opened(folder(), {
      settings: { metricsNeedRole: true, publicEntries: true },
    });
    expect(policy.accessOf('getMetrics')).toEqual(['viewer', 'analyst', 'admin']);
    for (const operation of ['getLeaf', 'listEntries', 'getProofBundle', 'getEntryBundle'] as const)
      expect(policy.accessOf(operation)).toBe('public');
    await close();
    const later = await opened(dataDir);
    expect(later.policy.accessOf('getMetrics')).toBe('public');
    expect(later.policy.accessOf('listEntries')).not.toBe('public');
    expect(await later.waiting()).toMatchObject([{ kind: 'policy.reloaded', actor: 'system' }]);
  });

  test('loads an existing file, and logs this as a reload', async () => {
    const dataDir = folder();
    const { policy: first } = await opened();
    const rules = withRules(first.current.rules, onlyAuditors);
    writeFileSync(join(dataDir, 'mine.yaml'), stringify({ rules }));
    const { policy, waiting } = await opened(dataDir, { file: join(dataDir, 'mine.yaml') });
    expect([policy.current.version, policy.accessOf('listAlerts')]).toEqual([2, ['auditor']]);
    expect(await waiting()).toMatchObject([{ kind: 'policy.reloaded', actor: 'system' }]);
  });
});

describe('replace', () => {
  test('takes effect with one log entry that contains the difference, and persists over a restart', async () => {
    const { policy, waiting, changes, close, dataDir } = await opened();
    const { rules, version } = policy.current;
    const after: AccessRule[] = [
      ...withRules(rules, onlyAuditors, { operation: 'getLeaf', access: 'public', roles: [] }).filter(
        ({ operation }) => operation !== 'getStatus',
      ),
    ].reverse();
    const changed = await policy.replace(after, alice, version);
    expect([changed.version, policy.current, changes()]).toEqual([2, changed, 1]);
    expect(policy.accessOf('listAlerts')).toEqual(['auditor']);
    expect(policy.accessOf('getLeaf')).toBe('public');
    expect(policy.accessOf('getStatus')).toEqual([]);
    const was = (operation: string) => rules.find((rule) => rule.operation === operation);
    expect(await waiting()).toMatchObject([
      {
        kind: 'policy.rule_edited',
        actor: alice.id,
        subject: { type: 'policy', id: 'access' },
        data: {
          version: 2,
          added: [],
          removed: [was('getStatus')],
          changed: [
            { before: was('listAlerts'), after: onlyAuditors },
            { before: was('getLeaf'), after: { operation: 'getLeaf', access: 'public', roles: [] } },
          ],
          added_count: 0,
          removed_count: 1,
          changed_count: 2,
        },
      },
    ]);
    await close();
    const again = await opened(dataDir);
    expect(again.policy.current).toEqual(changed);
    expect(again.policy.id).toBe(policy.id);
    expect(await again.waiting()).toHaveLength(1);
  });

  test('changes nothing if the rules are equivalent', async () => {
    const { policy, waiting, changes } = await opened();
    const before = policy.current;
    const same = before.rules.map((rule) => ({ ...rule, roles: [...rule.roles].reverse() })).reverse();
    expect(await policy.replace(same, alice)).toEqual(before);
    expect([changes(), await waiting()]).toEqual([0, []]);
  });

  test('rejects an outdated version', async () => {
    const { policy } = await opened();
    const { rules } = policy.current;
    expect(await code(policy.replace(rules, alice, 2))).toEqual(['VERSION_MISMATCH', undefined]);
    const both = [0, 1].map(() => code(policy.replace(withRules(rules, onlyAuditors), alice, 1)));
    expect(await Promise.all(both)).toEqual([expect.objectContaining({ version: 2 }), ['VERSION_MISMATCH', undefined]]);
  });

  test.each<[string, (rules: readonly AccessRule[]) => AccessRule[], string]>([
    ['an unknown operation', (rules) => [...rules, forRoles('dropTables')], 'rules.last.operation'],
    ['an operation twice', (rules) => [...rules, onlyAuditors], 'rules.last.operation'],
    [
      'public access with roles',
      (rules) => [...rules.slice(0, -1), { ...rules.at(-1)!, access: 'public', roles: ['admin'] }],
      'rules.end.roles',
    ],
    [
      'public access for an operation that needs an identity',
      (rules) => [...withRules(rules, { operation: 'whoAmI', access: 'public', roles: [] })],
      'rules.end.access',
    ],
    [
      'public access for an operation that returns resources',
      (rules) => [...withRules(rules, { operation: 'listAlerts', access: 'public', roles: [] })],
      'rules.end.access',
    ],
    ['login restricted to roles', (rules) => withRules(rules, forRoles('login', 'admin')), 'rules.end.access'],
    [
      'a policy without a rule for health',
      (rules) => rules.filter(({ operation }) => operation !== 'getHealth'),
      'rules',
    ],
    [
      'a policy without a rule for refresh',
      (rules) => rules.filter(({ operation }) => operation !== 'refresh'),
      'rules',
    ],
  ])('rejects %s', async (_, change, field) => {
    const { policy } = await opened();
    const { rules } = policy.current;
    const named = field.replace('last', String(rules.length)).replace('end', String(rules.length - 1));
    expect(await code(policy.replace(change(rules), alice))).toEqual(['INVALID_REQUEST', named]);
    expect(policy.current.version).toBe(1);
  });

  test('accepts rules with empty roles, and roles for metrics', async () => {
    const { policy } = await opened();
    const { rules } = policy.current;
    await policy.replace(withRules(rules, forRoles('listAlerts'), forRoles('getMetrics', 'viewer')), alice);
    expect([policy.accessOf('listAlerts'), policy.accessOf('getMetrics')]).toEqual([[], ['viewer']]);
  });

  test('makes concurrent changes one after the other, and rejects too many', async () => {
    const { policy, waiting } = await opened();
    const { rules } = policy.current;
    const asked = Array.from({ length: limits.maxQueuedPolicyChanges + 10 }, (_, n) =>
      code(policy.replace(withRules(rules, forRoles('listAlerts', n % 2 === 0 ? 'auditor' : 'viewer')), alice)),
    );
    const answers = await Promise.all(asked);
    const refused = answers.filter((answer) => Array.isArray(answer));
    expect(refused).toEqual(refused.map(() => ['OVERLOADED', 'policy_changes_wait']));
    expect(refused.length).toBeGreaterThan(0);
    const versions = (await waiting()).map(({ data }) => data.version);
    expect(versions).toEqual(versions.map((_, n) => n + 2));
    expect(policy.current.version).toBe(versions.length + 1);
  });
});

describe('a change that locks out all administrators fails with CONFLICT', () => {
  const without = (operation: string) => (rules: readonly AccessRule[]) =>
    rules.filter((rule) => rule.operation !== operation);
  test.each(['getPolicy', 'updatePolicy', 'reloadPolicy', 'listPrincipals', 'updatePrincipal'])(
    'if it removes the rule for %s',
    async (operation) => {
      const { policy, edit } = await opened();
      const { rules } = policy.current;
      expect(await code(policy.replace(without(operation)(rules), alice))).toEqual(['CONFLICT', 'locks_out']);
      edit(without(operation)(rules));
      expect(await code(policy.reload(alice))).toEqual(['CONFLICT', 'locks_out']);
      expect(policy.current.version).toBe(1);
    },
  );

  test('even if suspended principals, machines or users without a password remain; one user must have all required roles', async () => {
    const { policy, addPrincipal } = await opened();
    const given = withRules(
      policy.current.rules,
      ...['getPolicy', 'updatePolicy', 'reloadPolicy', 'listPrincipals'].map((operation) =>
        forRoles(operation, 'auditor'),
      ),
      forRoles('updatePrincipal', 'analyst'),
    );
    const password_hash = 'a hash';
    await addPrincipal({ roles: ['auditor', 'analyst'] });
    await addPrincipal({ roles: ['auditor', 'analyst'], password_hash, status: 'suspended' });
    await addPrincipal({ roles: ['auditor', 'analyst'], password_hash, kind: 'sensor' });
    await addPrincipal({ roles: ['auditor'], password_hash });
    await addPrincipal({ roles: ['analyst'], password_hash });
    expect(await code(policy.replace(given, alice))).toEqual(['CONFLICT', 'locks_out']);
    await addPrincipal({ roles: ['auditor', 'analyst'], password_hash });
    expect((await policy.replace(given, alice)).version).toBe(2);
  });
});

describe('reload', () => {
  test('loads an edited file once', async () => {
    const { policy, edit, waiting, changes } = await opened();
    edit(withRules(policy.current.rules, onlyAuditors));
    expect((await policy.reload(alice)).version).toBe(2);
    expect((await policy.reload(alice)).version).toBe(2);
    expect(await waiting()).toMatchObject([
      { kind: 'policy.reloaded', actor: alice.id, data: { changed: [{ after: onlyAuditors }] } },
    ]);
    expect(changes()).toBe(1);
  });

  test('changes nothing if the file is invalid, and reports the reason', async () => {
    const { policy, edit, waiting } = await opened();
    edit([...policy.current.rules, forRoles('dropTables')]);
    const refused = await policy.reload(alice).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'CONFLICT',
      details: { field: `rules.${policy.current.rules.length}.operation` },
    });
    expect([policy.current.version, await waiting()]).toEqual([1, []]);
  });

  test('recreates the default file if it is missing; a missing configured file is an error', async () => {
    const { policy, dataDir } = await opened();
    rmSync(join(dataDir, 'policy.json'));
    expect((await policy.reload(alice)).version).toBe(1);
    expect(JSON.parse(readFileSync(join(dataDir, 'policy.json'), 'utf8'))).toEqual({
      rules: policy.current.rules,
    });
    const other = await opened(folder(), { file: '/nonexistent/policy.yaml' });
    expect(await code(other.policy.reload(alice))).toEqual(['CONFLICT', 'does not exist']);
    const { rules } = other.policy.current;
    expect(await code(other.policy.replace(withRules(rules, onlyAuditors), alice))).toEqual(['CONFLICT', 'ENOENT']);
    expect(other.policy.current.version).toBe(1);
  });
});

test('the largest possible difference fits into one entry', () => {
  const whole = operationIds.map((operation) => forRoles(operation, ...roles));
  const none = operationIds.map((operation) => forRoles(operation));
  const changed = whole.map((after, n) => ({ before: none[n]!, after }));
  const event = policyRuleEdited({ version: 2, added: [], removed: [], changed }, alice.id);
  const bytes = Buffer.byteLength(canonicalize(event)!);
  expect(bytes).toBeLessThan(limits.maxEntryBytes / 2);
  expect((event.data.changed as unknown[]).length).toBe(operationIds.length);
});
