import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, startService } from '../../scripts/service.ts';
import type { AccessRule } from '../../src/contract/resources/policy.ts';
import { operationIds } from '../../src/contract/routes.ts';
import type { Role } from '../../src/contract/vocabulary.ts';
import { forRoles, withRules } from '../identities/policy-parts.ts';
import { openService, password, type Service } from './service.ts';

interface PolicyAnswer {
  readonly data: {
    readonly id: string;
    readonly attributes: {
      readonly version: number;
      readonly rules: AccessRule[];
      readonly file_refused?: string;
    };
  };
}
interface Failure {
  readonly error: {
    readonly code: string;
    readonly details?: { readonly field?: string; readonly reason?: string };
  };
}

const onlyAuditors = forRoles('listAlerts', 'auditor');

describe('the access policy over HTTP', () => {
  let service: Service;
  let token: string;
  beforeAll(async () => {
    service = await openService();
    const json = { username: 'admin', password };
    token = ((await service.call('login', 'POST /auth/login', { json })).body as { access_token: string }).access_token;
  });
  afterAll(() => service.close());

  const read = async () => (await service.call('getPolicy', 'GET /api/v1/policy', { token })).body as PolicyAnswer;
  const put = (rules: readonly unknown[], headers: Record<string, string> = {}) =>
    service.call('updatePolicy', 'PUT /api/v1/policy', { token, json: { rules }, headers });

  test('a change takes effect with the next request, honours If-Match, and is logged with its actor', async () => {
    const { id, attributes } = (await read()).data;
    const rules = withRules(attributes.rules, onlyAuditors);
    const stale = await put(rules, { 'if-match': '"7"' });
    expect([stale.status, (stale.body as Failure).error]).toEqual([
      412,
      expect.objectContaining({
        code: 'VERSION_MISMATCH',
        details: expect.objectContaining({ field: 'if-match', version: attributes.version }),
      }),
    ]);
    expect((await service.call('listAlerts', 'GET /api/v1/alerts', { token })).status).toBe(200);
    const changed = await put(rules, { 'if-match': `"${attributes.version}"` });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect((changed.body as PolicyAnswer).data).toMatchObject({ id, attributes: { version: 2 } });
    expect((await service.call('listAlerts', 'GET /api/v1/alerts', { token })).status).toBe(403);
    await service.pump.idle();
    const { body } = await service.call('listEntries', 'GET /api/transparency/entries?kind=policy.rule_edited', {
      token,
    });
    const me = (await service.call('whoAmI', 'GET /auth/me', { token })).body as { data: { id: string } };
    expect((body as { data: unknown[] }).data).toMatchObject([
      {
        attributes: {
          entry: {
            kind: 'policy.rule_edited',
            actor: me.data.id,
            data: { version: 2, added: [], removed: [], changed: [{ after: onlyAuditors }] },
          },
        },
      },
    ]);
  });

  test('every caller can list its permissions under the current policy', async () => {
    const { rules } = (await read()).data.attributes;
    const tokens = new Map([['admin', token]]);
    for (const scope of ['analyst', 'auditor', 'sensor']) {
      const json = { name: scope, scopes: [scope] };
      const { body } = await service.call('issueToken', 'POST /api/v1/tokens', { token, json });
      tokens.set(scope, (body as { data: { attributes: { token: string } } }).data.attributes.token);
    }
    const told = async (who: string) => {
      const answer = await service.call('whoAmI', 'GET /auth/me', { token: tokens.get(who)! });
      return (answer.body as { data: { attributes: { operations: string[] } } }).data.attributes.operations;
    };
    const allowed = (given: readonly AccessRule[], role: Role) =>
      operationIds.filter((operation) => {
        const rule = given.find((one) => one.operation === operation);
        return rule?.access === 'public' || rule?.roles.includes(role);
      });
    for (const role of ['admin', 'analyst', 'auditor', 'sensor'] as const)
      expect([role, await told(role)]).toEqual([role, allowed(rules, role)]);

    const next = withRules(
      rules.filter(({ operation }) => operation !== 'startScan'),
      forRoles('updateAlert', 'admin'),
      { operation: 'listEntries', access: 'public', roles: [] },
    );
    expect((await put(next)).status).toBe(200);
    const before = allowed(rules, 'analyst');
    expect(await told('analyst')).toEqual(
      before.filter((operation) => operation !== 'updateAlert' && operation !== 'startScan'),
    );
    expect(await told('sensor')).toContain('listEntries');
    expect(await told('admin')).not.toContain('startScan');
    expect((await put(rules)).status).toBe(200);
  });

  test('an invalid policy is rejected with the place of the error, and a policy that locks out all administrators is a conflict', async () => {
    const { rules } = (await read()).data.attributes;
    const refusals = [
      [...rules, forRoles('dropTables', 'admin')],
      [...rules, { operation: 'getStatus', access: 'roles', roles: ['root'] }],
      [...rules, { operation: 'getStatus', access: 'all', roles: [] }],
    ];
    const fields = [];
    for (const given of refusals) {
      const { status, body } = await put(given);
      fields.push([status, (body as Failure).error.details?.field]);
    }
    const n = rules.length;
    expect(fields).toEqual([
      [400, `rules.${n}.operation`],
      [400, `rules.${n}.roles.0`],
      [400, `rules.${n}.access`],
    ]);
    const locked = await put(rules.filter(({ operation }) => operation !== 'updatePolicy'));
    expect([locked.status, (locked.body as Failure).error.details?.reason]).toEqual([409, 'locks_out']);
  });

  test('the last user who administers through a role other than admin cannot be suspended and cannot lose the role', async () => {
    const { rules } = (await read()).data.attributes;
    const restoring = ['getPolicy', 'updatePolicy', 'reloadPolicy', 'listPrincipals', 'updatePrincipal'];
    const json = { name: 'keeper', kind: 'user', roles: ['auditor', 'viewer'], password };
    const created = await service.call('createPrincipal', 'POST /api/v1/principals', { token, json });
    const keeper = (created.body as { data: { id: string } }).data.id;
    const toAuditors = restoring.map((operation) => forRoles(operation, 'auditor'));
    expect((await put(withRules(rules, ...toAuditors))).status).toBe(200);

    const login = await service.call('login', 'POST /auth/login', { json: { username: 'keeper', password } });
    const asKeeper = (login.body as { access_token: string }).access_token;
    const update = (change: object) =>
      service.call('updatePrincipal', `PUT /api/v1/principals/${keeper}`, { token: asKeeper, json: change });
    for (const change of [{ status: 'suspended' }, { roles: ['viewer'] }]) {
      const { status, body } = await update(change);
      expect([status, (body as Failure).error.details?.reason]).toEqual([409, 'locks_out']);
    }
    expect((await update({ name: 'the-keeper' })).status).toBe(200);
    const back = await service.call('updatePolicy', 'PUT /api/v1/policy', {
      token: asKeeper,
      json: { rules },
    });
    expect(back.status).toBe(200);
  });

  test('callers that may issue tokens or create principals can grant only their own roles', async () => {
    const { rules } = (await read()).data.attributes;
    const granted = ['issueToken', 'createPrincipal', 'updatePrincipal'].map((operation) =>
      forRoles(operation, 'admin', 'analyst'),
    );
    expect((await put(withRules(rules, ...granted))).status).toBe(200);
    const json = { name: 'ann', kind: 'user', roles: ['analyst'], password };
    const created = await service.call('createPrincipal', 'POST /api/v1/principals', { token, json });
    const ann = (created.body as { data: { id: string } }).data.id;
    const login = await service.call('login', 'POST /auth/login', { json: { username: 'ann', password } });
    const asAnn = (login.body as { access_token: string }).access_token;
    const me = (await service.call('whoAmI', 'GET /auth/me', { token })).body as { data: { id: string } };

    const issue = (principal_id: string, ...scopes: string[]) =>
      service.call('issueToken', 'POST /api/v1/tokens', {
        token: asAnn,
        json: { name: 't', principal_id, scopes },
      });
    const update = (id: string, change: object) =>
      service.call('updatePrincipal', `PUT /api/v1/principals/${id}`, { token: asAnn, json: change });
    const provision = (...roles: string[]) =>
      service.call('createPrincipal', 'POST /api/v1/principals', {
        token: asAnn,
        json: { name: `by-ann-${roles.join('-')}`, kind: 'sensor', roles },
      });
    const taken = [
      await issue(me.data.id, 'admin'),
      await issue(me.data.id, 'viewer'),
      await issue(ann, 'sensor'),
      await update(ann, { roles: ['analyst', 'admin'] }),
      await update(me.data.id, { password: 'taken over' }),
      await provision('sensor'),
    ];
    expect(taken.map(({ status }) => status)).toEqual(taken.map(() => 403));
    expect((await issue(ann, 'viewer')).status).toBe(201);
    expect((await provision('viewer')).status).toBe(201);
    expect((await put(rules)).status).toBe(200);
  });

  test('shared caches keep bundles of entries only while the bundles are public', async () => {
    const { rules } = (await read()).data.attributes;
    const cached = async () =>
      (await service.call('getEntryBundle', 'GET /tile/entries/000.p/1', { token })).headers
        .get('cache-control')
        ?.split(',')[0];
    expect(await cached()).toBe('private');
    const open: AccessRule = { operation: 'getEntryBundle', access: 'public', roles: [] };
    expect((await put(withRules(rules, open))).status).toBe(200);
    expect(await cached()).toBe('public');
    expect((await put(rules)).status).toBe(200);
    expect(await cached()).toBe('private');
  });

  test('a reload applies the file, and keeps the policy if the file is invalid', async () => {
    const { rules, version } = (await read()).data.attributes;
    const file = join(service.services.config.data_dir, 'policy.json');
    writeFileSync(file, JSON.stringify({ rules: withRules(rules, forRoles('getStatus')) }));
    const { body } = await service.call('reloadPolicy', 'POST /api/v1/policy/reload', { token });
    expect((body as PolicyAnswer).data.attributes.version).toBe(version + 1);
    const refused = await service.call('getStatus', 'GET /api/v1/status', { token });
    expect([refused.status, (refused.body as Failure).error.code]).toEqual([403, 'FORBIDDEN']);
    writeFileSync(file, 'rules: [');
    const unusable = await service.call('reloadPolicy', 'POST /api/v1/policy/reload', { token });
    expect([unusable.status, (unusable.body as Failure).error.code]).toEqual([409, 'CONFLICT']);
    const { version: kept, file_refused } = (await read()).data.attributes;
    expect([kept, file_refused]).toEqual([version + 1, expect.stringMatching(/cannot be used/)]);
    expect((await put(rules)).status).toBe(200);
    expect((await read()).data.attributes.file_refused).toBeUndefined();
  });

  test('a rejected file causes a warning in the status until the policy is changed', async () => {
    const { rules } = (await read()).data.attributes;
    const warnings = async () => {
      const { body } = await service.call('getStatus', 'GET /api/v1/status', { token });
      return (body as { data: { attributes: { warnings: string[] } } }).data.attributes.warnings;
    };
    expect(await warnings()).toEqual([]);
    writeFileSync(join(service.services.config.data_dir, 'policy.json'), '{');
    await service.call('reloadPolicy', 'POST /api/v1/policy/reload', { token });
    expect(await warnings()).toEqual([expect.stringMatching(/^The access policy file is invalid/)]);
    expect((await put(rules)).status).toBe(200);
    expect(await warnings()).toEqual([]);
  });

  test('no change is made while the log accepts no entries', async () => {
    const { rules, version } = (await read()).data.attributes;
    const { status } = service.ledger;
    service.ledger.status = async () => ({
      ...(await status.call(service.ledger)),
      health: { state: 'degraded', fault: 'rollback', advice: 'restore it' },
    });
    const refused = await put(rules.filter(({ operation }) => operation !== 'getStatus'));
    service.ledger.status = status;
    expect([refused.status, (await read()).data.attributes.version]).toEqual([503, version]);
  });
});

test('the banner of a service reports an invalid file, and SIGHUP reloads the file and keeps the policy if the file is invalid', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-policy-'));
  const file = join(dataDir, 'mine.json');
  writeFileSync(file, '{"rules": [{}]}');
  const service = await startService({ dataDir, env: { CANDOR_LOG_LEVEL: 'info', CANDOR_POLICY_FILE: file } });
  try {
    expect(service.output).toContainEqual(
      expect.stringMatching(
        /^ {2}warning +the previous access policy stays in effect: the access policy file .* rules\.0\.\w+ is/,
      ),
    );
    const ask = async (path: string, init: RequestInit = {}) => fetch(service.url + path, init);
    const authorization = { authorization: `Bearer ${await login(service)}` };
    const { data } = (await (await ask('/api/v1/policy', { headers: authorization })).json()) as PolicyAnswer;
    const said = async (text: string) => {
      while (!service.output.some((line) => line.includes(text)))
        await new Promise((resolve) => setTimeout(resolve, 10));
    };
    writeFileSync(file, '{');
    process.kill(service.pid, 'SIGHUP');
    await said('cannot reload the access policy; keeping the previous one');
    writeFileSync(file, JSON.stringify({ rules: withRules(data.attributes.rules, onlyAuditors) }));
    process.kill(service.pid, 'SIGHUP');
    await said('the access policy was reloaded');
    expect((await ask('/api/v1/alerts', { headers: authorization })).status).toBe(403);
  } finally {
    expect(await service.stop()).toBe(0);
    rmSync(dataDir, { recursive: true });
  }
});
