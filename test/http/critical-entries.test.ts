/**
 * Every source of critical events of the specification's table, done over HTTP on a running service: the log has
 * exactly one entry of each, which verifies against the signed head.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditRecord } from '../../src/contract/resources/audit-record.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { limits } from '../../src/limits.ts';
import { candor } from '../cli/candor.ts';
import { call } from '../system/call.ts';
import {
  CriticalOperator,
  isOf,
  itemOf,
  jtiOf,
  type Leaf,
  type Tokens,
  type Wanted,
} from './critical-operator.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'candor-critical-'));
const on = new CriticalOperator();

/** What is done, and the entries that it has to leave, by the specification's sources. */
const sources: Record<string, () => Promise<Wanted[]>> = {
  'an alert that reaches high': async () => {
    const id = await on.raise(1001, 1);
    return [on.by('alert.raised', 'alert', id, { severity: 'high', count: 1 }, 'system')];
  },
  'an alert that a person raises to high': async () => {
    const id = await on.raise(1002, 2);
    await on.ask('updateAlert', { params: [id], json: { severity: 'high' } });
    return [on.through('updateAlert', 'alert.raised', 'alert', id, { severity: 'high' })];
  },
  'a principal provisioned': async () => {
    const { id } = await on.provision('ana', ['viewer'], 'a password of ana');
    return [
      on.through('createPrincipal', 'principal.provisioned', 'principal', id, {
        name: 'ana',
        kind: 'user',
        roles: ['viewer'],
      }),
    ];
  },
  'its status changed, and its roles': async () => {
    const { id } = await on.provision('ben', ['viewer']);
    await on.ask('updatePrincipal', { params: [id], json: { status: 'suspended' } });
    await on.ask('updatePrincipal', { params: [id], json: { roles: ['viewer', 'analyst'] } });
    return [
      on.through('updatePrincipal', 'principal.status_changed', 'principal', id, {
        from: 'active',
        to: 'suspended',
      }),
      on.through('updatePrincipal', 'principal.role_changed', 'principal', id, {
        from: ['viewer'],
        to: ['viewer', 'analyst'],
      }),
    ];
  },
  'a session begun and ended': async () => {
    const session = await on.signIn();
    const { status } = await on.try('logout', { token: session.access_token });
    expect(status).toBe(204);
    const jti = jtiOf(session);
    return [
      on.through('login', 'token.issued', 'token', jti),
      on.through('logout', 'token.revoked', 'token', jti),
    ];
  },
  'a long-lived token issued and revoked': async () => {
    const jti = await on.issue('of a sensor');
    await on.ask('revokeToken', { params: [jti] }, 204);
    return [
      on.through('issueToken', 'token.issued', 'token', jti),
      on.through('revokeToken', 'token.revoked', 'token', jti),
    ];
  },
  'a refresh token used twice': async () => {
    const password = 'a password of cyd';
    const { id } = await on.provision('cyd', ['viewer'], password);
    const session = await on.signIn('cyd', password);
    const json = { refresh_token: session.refresh_token };
    const renewed = await on.try('refresh', { json });
    expect(renewed.status).toBe(200);
    on.keep(renewed.body as Tokens);
    expect((await on.try('refresh', { json })).status).toBe(401);
    const jti = jtiOf(session);
    return [
      on.through('login', 'token.issued', 'token', jti, {}, id),
      on.through('refresh', 'token.revoked', 'token', jti, {}, id),
    ];
  },
  'a password changed: the other session ends': async () => {
    const password = 'a password of dot';
    const { id } = await on.provision('dot', ['viewer'], password);
    const [kept, other] = [await on.signIn('dot', password), await on.signIn('dot', password)];
    const json = { current_password: password, new_password: 'another password of dot' };
    on.secrets.add(json.new_password);
    const { status } = await on.try('changePassword', { token: kept.access_token, json });
    expect(status).toBe(204);
    return [on.through('changePassword', 'token.revoked', 'token', jtiOf(other), {}, id)];
  },
  'a password reset: every session ends': async () => {
    const password = 'a password of eve';
    const { id } = await on.provision('eve', ['viewer'], password);
    const sessions = [await on.signIn('eve', password), await on.signIn('eve', password)];
    const json = { password: 'another password of eve', status: 'suspended' };
    on.secrets.add(json.password);
    await on.ask('updatePrincipal', { params: [id], json });
    return [
      on.through('updatePrincipal', 'principal.status_changed', 'principal', id),
      ...sessions.map((session) => on.through('updatePrincipal', 'token.revoked', 'token', jtiOf(session))),
    ];
  },
  'the access policy edited': async () => {
    const rules = await on.rulesWith('listAlerts', ['analyst', 'admin']);
    const { attributes } = itemOf(await on.ask('updatePolicy', { json: { rules } }));
    const change = {
      before: { operation: 'listAlerts', access: 'roles', roles: ['viewer', 'analyst', 'admin'] },
      after: { operation: 'listAlerts', access: 'roles', roles: ['analyst', 'admin'] },
    };
    const data = { version: attributes.version, changed_count: 1, changed: [change] };
    return [on.through('updatePolicy', 'policy.rule_edited', 'policy', 'access', data)];
  },
  'the access policy reloaded': async () => {
    const rules = await on.rulesWith('listAlerts', ['viewer', 'analyst', 'admin']);
    writeFileSync(policyFile(), JSON.stringify({ rules }));
    const { attributes } = itemOf(await on.ask('reloadPolicy'));
    const data = { version: attributes.version, added_count: 0, removed_count: 0, changed_count: 1 };
    return [on.through('reloadPolicy', 'policy.reloaded', 'policy', 'access', data)];
  },
  'a key rotated: one that goes and one that comes': async () => {
    const purpose = 'event-signing';
    const before = await on.activeKey(purpose);
    const { id } = itemOf(await on.ask('rotateKey', { json: { purpose } }));
    return [
      on.through('rotateKey', 'key.rotated', 'key', id, { purpose, old_kid: before, new_kid: id }),
      on.through('rotateKey', 'key.retired', 'key', before, { purpose }),
    ];
  },
  'a key given up': async () => {
    const purpose = 'transparency-sth';
    const id = await on.keyThatIs('pending', purpose);
    await on.ask('retireKey', { params: [id] });
    return [on.through('retireKey', 'key.retired', 'key', id, { purpose })];
  },
  'a key revoked': async () => {
    const purpose = 'transparency-sth';
    const before = await on.activeKey(purpose);
    await on.ask('revokeKey', { params: [before], json: { reason: 'a test' } });
    return [on.through('revokeKey', 'key.revoked', 'key', before, { purpose, reason: 'a test' })];
  },
  "an AI's verdict overridden": async () => {
    const id = await on.raise(1003, 3);
    const ai_override = { verdict: 'benign', reason: 'our own scanner' };
    await on.ask('updateAlert', { params: [id], json: { ai_override } });
    return [on.through('updateAlert', 'verdict.overridden', 'alert', id, ai_override)];
  },
  'a backup made': async () => {
    const { id } = itemOf(await on.ask('createBackup', {}, 202));
    return [
      on.through('createBackup', 'backup.created', 'backup', id, {
        files: expect.any(Number),
        size: expect.any(Number),
      }),
    ];
  },
};

const policyFile = () => join(dataDir, 'policy.json');
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

describe('on a running service', { timeout: 120_000 }, () => {
  beforeAll(() => on.start(dataDir), 60_000);
  afterAll(() => on.service.kill().catch(() => undefined));

  test.each(Object.keys(sources))('%s is in the log, once', async (source) => {
    for (const wanted of await sources[source]!()) {
      const { through, ...entry } = wanted;
      const leaf = await ownOnly(wanted);
      expect(leaf.entry).toMatchObject(entry);
      await on.proven(leaf);
      if (through !== undefined) await leadsTo(through, leaf);
    }
  });

  /** The entry is named by one audit record, which is that of the request. */
  async function leadsTo(operation: OperationId, { entry }: Leaf): Promise<void> {
    const records = await on.recordsOf(entry);
    expect(records).toMatchObject([{ operation }]);
    const [{ actor, request_id, time }] = records as [AuditRecord];
    expect(on.requests.get(request_id)).toBe(operation);
    if (operation !== 'refresh') expect(actor).toBe(entry.actor);
    expect(time >= entry.occurred_at).toBe(true);
  }

  /** Subjects are unique, but for the policy, of which the version tells. */
  async function ownOnly(wanted: Wanted): Promise<Leaf> {
    const leaf = await on.theOnly(wanted);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await on.leaves()).filter((other) => isOf(wanted, other))).toEqual([leaf]);
    return leaf;
  }

  test('no entry has a secret in it', async () => {
    const all = await on.leaves();
    expect(all.length).toBeGreaterThan(20);
    for (const { canonical } of all) {
      const text = Buffer.from(canonical, 'base64').toString('utf8');
      for (const secret of on.secrets) expect(text).not.toContain(secret);
    }
  });

  test('requests at once that give one id are told apart', async () => {
    const headers = { 'x-request-id': 'the-same' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        call(on.service, 'issueToken', {
          token: on.token,
          headers,
          json: { name: `of request ${n}`, scopes: ['viewer'] },
        }),
      ),
    );
    for (const { body } of answers) {
      const { id, attributes } = itemOf(body);
      on.secrets.add(String(attributes.token));
      const { entry } = await on.theOnly({ kind: 'token.issued', subject: { type: 'token', id } });
      expect(await on.recordsOf(entry)).toMatchObject([
        { request_id: 'the-same', resource: { type: 'token', id }, entry_ids: [entry.id] },
      ]);
    }
  });

  test('an override has a record of its own, however many changes there were in the minute', async () => {
    const id = await on.raise(1004, 3);
    for (let n = 0; n <= limits.auditSuccessesPerMinute; n++)
      await on.ask('updateAlert', { params: [id], json: { tags: [`${n}`] } });
    await on.ask('updateAlert', { params: [id], json: { ai_override: { verdict: 'benign', reason: 'r' } } });
    const leaf = await on.theOnly({ kind: 'verdict.overridden', subject: { type: 'alert', id } });
    await leadsTo('updateAlert', leaf);
  });

  test('sessions and passwords have records of their own, however much their owner read and changed', async () => {
    const passwords = ['a password of fay', 'another password of fay'] as const;
    const { id } = await on.provision('fay', ['admin'], passwords[0]);
    on.secrets.add(passwords[1]);
    const [{ access_token: token }, other] = [
      await on.signIn('fay', passwords[0]),
      await on.signIn('fay', passwords[0]),
    ];
    const alert = await on.raise(1005, 3);
    for (let n = 0; n <= limits.auditSuccessesPerMinute; n++) {
      await on.ask('listPrincipals', { token, query: 'per_page=1' });
      await on.ask('updateAlert', { token, params: [alert], json: { tags: [`${n}`] } });
    }
    const [current_password, new_password] = passwords;
    const change = await on.try('changePassword', { token, json: { current_password, new_password } });
    expect(change.status).toBe(204);
    const last = await on.signIn('fay', new_password);
    expect((await on.try('logout', { token })).status).toBe(204);
    for (const [operation, kind, session] of [
      ['changePassword', 'token.revoked', jtiOf(other)],
      ['login', 'token.issued', jtiOf(last)],
      ['logout', 'token.revoked', jtiOf({ access_token: token, refresh_token: '' })],
    ] as const) {
      const leaf = await on.theOnly({ kind, subject: { type: 'token', id: session } });
      await leadsTo(operation, leaf);
      const type = operation === 'changePassword' ? 'principal' : 'token';
      const resource = { type, id: type === 'token' ? session : id };
      expect(await on.recordsOf(leaf.entry)).toMatchObject([{ actor: id, actor_name: 'fay', resource }]);
    }
  });

  test('a backup restored is in the log that goes on from it, once', async () => {
    const { id } = itemOf(await on.ask('createBackup', {}, 202));
    await on.theOnly({ kind: 'backup.created', subject: { type: 'backup', id } });
    const { path } = itemOf(await on.ask('getBackup', { params: [id] })).attributes;
    await on.service.stop();
    const restored = await candor('restore', String(path), '--data-dir', dataDir, '--replace', '--json');
    expect(restored).toMatchObject({ code: 0, json: { status: 'restored', backup_id: id } });
    await on.start(dataDir);
    const wanted = on.by('backup.restored', 'backup', id, { backup_id: id }, 'system');
    const leaf = await ownOnly(wanted);
    expect(leaf.entry).toMatchObject(wanted);
    await on.proven(leaf);
  });
});

describe('kill -9 right after the answer', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-killed-'));
  beforeAll(() => on.start(folder), 60_000);
  afterAll(async () => {
    await on.service.kill().catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Makes a change, returns what has to be logged of it. Prepared before, so that nothing comes between. */
  const changes: Record<string, () => Promise<() => Promise<Wanted>>> = {
    'a token revoked': async () => {
      const jti = await on.issue('to be revoked');
      return async () => {
        await on.ask('revokeToken', { params: [jti] }, 204);
        return on.by('token.revoked', 'token', jti);
      };
    },
    'a principal suspended': async () => {
      const { id } = await on.provision('dan', ['analyst']);
      return async () => {
        await on.ask('updatePrincipal', { params: [id], json: { status: 'suspended' } });
        return on.by('principal.status_changed', 'principal', id, { from: 'active', to: 'suspended' });
      };
    },
    'the access policy edited': async () => {
      const rules = await on.rulesWith('getAlert', ['admin']);
      return async () => {
        const { attributes } = itemOf(await on.ask('updatePolicy', { json: { rules } }));
        return on.by('policy.rule_edited', 'policy', 'access', {
          version: attributes.version,
          changed_count: 1,
        });
      };
    },
  };

  const made: Wanted[] = [];

  test.each(Object.keys(changes))('%s is in the log once, and in the audit log', async (name) => {
    const change = await changes[name]!();
    made.push(await change());
    await on.service.kill();
    await on.start(folder);
    for (const wanted of made) {
      const leaf = await on.theOnly(wanted);
      expect(leaf.entry).toMatchObject(wanted);
      await on.proven(leaf);
      expect(await on.auditedChanges(wanted.subject.type)).toBe(1);
    }
  });
});
