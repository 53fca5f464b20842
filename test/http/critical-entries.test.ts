/**
 * Triggers every source of critical events in the specification's table over HTTP, on a running service. The log has
 * exactly one entry for each, and the entry verifies against the signed head.
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
import { CriticalOperator, isOf, itemOf, jtiOf, type Leaf, type Tokens, type Wanted } from './critical-operator.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'candor-critical-'));
const on = new CriticalOperator();

/** Functions that trigger the sources in the specification's table, and return the log entries that they must cause. */
const sources: Record<string, () => Promise<Wanted[]>> = {
  'an alert that reaches high': async () => {
    const id = await on.raise(1001, 1);
    return [on.by('alert.raised', 'alert', id, { severity: 'high', count: 1 }, 'system')];
  },
  'an alert that a user raises to high': async () => {
    const id = await on.raise(1002, 2);
    await on.ask('updateAlert', { params: [id], json: { severity: 'high' } });
    return [on.through('updateAlert', 'alert.raised', 'alert', id, { severity: 'high' })];
  },
  'the creation of a principal': async () => {
    const { id } = await on.provision('ana', ['viewer'], 'a password of ana');
    return [
      on.through('createPrincipal', 'principal.provisioned', 'principal', id, {
        name: 'ana',
        kind: 'user',
        roles: ['viewer'],
      }),
    ];
  },
  'a change of the status and the roles of a principal': async () => {
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
  'the start and the end of a session': async () => {
    const session = await on.signIn();
    const { status } = await on.try('logout', { token: session.access_token });
    expect(status).toBe(204);
    const jti = jtiOf(session);
    return [on.through('login', 'token.issued', 'token', jti), on.through('logout', 'token.revoked', 'token', jti)];
  },
  'the issue and the revocation of a long-lived token': async () => {
    const jti = await on.issue('of a sensor');
    await on.ask('revokeToken', { params: [jti] }, 204);
    return [
      on.through('issueToken', 'token.issued', 'token', jti),
      on.through('revokeToken', 'token.revoked', 'token', jti),
    ];
  },
  'the second use of a refresh token': async () => {
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
  'the change of a password, which ends the other session': async () => {
    const password = 'a password of dot';
    const { id } = await on.provision('dot', ['viewer'], password);
    const [kept, other] = [await on.signIn('dot', password), await on.signIn('dot', password)];
    const json = { current_password: password, new_password: 'another password of dot' };
    on.secrets.add(json.new_password);
    const { status } = await on.try('changePassword', { token: kept.access_token, json });
    expect(status).toBe(204);
    return [on.through('changePassword', 'token.revoked', 'token', jtiOf(other), {}, id)];
  },
  'the reset of a password, which ends every session': async () => {
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
  'an edit of the access policy': async () => {
    const rules = await on.rulesWith('listAlerts', ['analyst', 'admin']);
    const { attributes } = itemOf(await on.ask('updatePolicy', { json: { rules } }));
    const change = {
      before: { operation: 'listAlerts', access: 'roles', roles: ['viewer', 'analyst', 'admin'] },
      after: { operation: 'listAlerts', access: 'roles', roles: ['analyst', 'admin'] },
    };
    const data = { version: attributes.version, changed_count: 1, changed: [change] };
    return [on.through('updatePolicy', 'policy.rule_edited', 'policy', 'access', data)];
  },
  'a reload of the access policy': async () => {
    const rules = await on.rulesWith('listAlerts', ['viewer', 'analyst', 'admin']);
    writeFileSync(policyFile(), JSON.stringify({ rules }));
    const { attributes } = itemOf(await on.ask('reloadPolicy'));
    const data = { version: attributes.version, added_count: 0, removed_count: 0, changed_count: 1 };
    return [on.through('reloadPolicy', 'policy.reloaded', 'policy', 'access', data)];
  },
  'the rotation of a key, with the retired key and the new key': async () => {
    const purpose = 'event-signing';
    const before = await on.activeKey(purpose);
    const { id } = itemOf(await on.ask('rotateKey', { json: { purpose } }));
    return [
      on.through('rotateKey', 'key.rotated', 'key', id, { purpose, old_kid: before, new_kid: id }),
      on.through('rotateKey', 'key.retired', 'key', before, { purpose }),
    ];
  },
  'the retirement of a pending key': async () => {
    const purpose = 'transparency-sth';
    const id = await on.keyThatIs('pending', purpose);
    await on.ask('retireKey', { params: [id] });
    return [on.through('retireKey', 'key.retired', 'key', id, { purpose })];
  },
  'the revocation of a key': async () => {
    const purpose = 'transparency-sth';
    const before = await on.activeKey(purpose);
    await on.ask('revokeKey', { params: [before], json: { reason: 'a test' } });
    return [on.through('revokeKey', 'key.revoked', 'key', before, { purpose, reason: 'a test' })];
  },
  "the override of an AI's verdict": async () => {
    const id = await on.raise(1003, 3);
    const ai_override = { verdict: 'benign', reason: 'our own scanner' };
    await on.ask('updateAlert', { params: [id], json: { ai_override } });
    return [on.through('updateAlert', 'verdict.overridden', 'alert', id, ai_override)];
  },
  'a backup': async () => {
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

describe('on a running service', () => {
  beforeAll(() => on.start(dataDir));
  afterAll(() => on.service.kill().catch(() => undefined));

  /**
   * Changes by name. Each function prepares a change, and returns a function that makes the change and returns the
   * expected entry. Because of the preparation, no other request precedes the kill.
   */
  const changes: Record<string, () => Promise<() => Promise<Wanted>>> = {
    'the revocation of a token': async () => {
      const jti = await on.issue('to be revoked');
      return async () => {
        await on.ask('revokeToken', { params: [jti] }, 204);
        return on.by('token.revoked', 'token', jti);
      };
    },
    'the suspension of a principal': async () => {
      const { id } = await on.provision('dan', ['analyst']);
      return async () => {
        await on.ask('updatePrincipal', { params: [id], json: { status: 'suspended' } });
        return on.by('principal.status_changed', 'principal', id, { from: 'active', to: 'suspended' });
      };
    },
    'an edit of the access policy': async () => {
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

  test(`after a kill -9 right after the responses, ${Object.keys(changes).join(', ')} are in the log once, and in the audit log`, async () => {
    const made: (() => Promise<Wanted>)[] = [];
    for (const prepare of Object.values(changes)) made.push(await prepare());
    const entries = await Promise.all(made.map((change) => change()));
    await on.service.kill();
    await on.start(dataDir);
    for (const wanted of entries) {
      const leaf = await on.theOnly(wanted);
      expect(leaf.entry).toMatchObject(wanted);
      await on.proven(leaf);
      expect(await on.auditedChanges(wanted.subject.type)).toBe(1);
    }
  });

  test.each(Object.keys(sources))('%s is in the log, once', async (source) => {
    for (const wanted of await sources[source]!()) {
      const { through, ...entry } = wanted;
      const leaf = await ownOnly(wanted);
      expect(leaf.entry).toMatchObject(entry);
      await on.proven(leaf);
      if (through !== undefined) await leadsTo(through, leaf);
    }
  });

  /** Checks that exactly one audit record, the record of the request, names the entry. */
  async function leadsTo(operation: OperationId, { entry }: Leaf): Promise<void> {
    const records = await on.recordsOf(entry);
    expect(records).toMatchObject([{ operation }]);
    const [{ actor, request_id, time }] = records as [AuditRecord];
    expect(on.requests.get(request_id)).toBe(operation);
    if (operation !== 'refresh') expect(actor).toBe(entry.actor);
    expect(time >= entry.occurred_at).toBe(true);
  }

  /** Returns the entry of this kind and subject, and checks that no second entry appears. */
  async function ownOnly(wanted: Wanted): Promise<Leaf> {
    const leaf = await on.theOnly(wanted);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await on.leaves(wanted.kind)).filter((other) => isOf(wanted, other))).toEqual([leaf]);
    return leaf;
  }

  test('no entry contains a secret', async () => {
    const all = await on.leaves();
    expect(all.length).toBeGreaterThan(20);
    for (const { canonical } of all) {
      const text = Buffer.from(canonical, 'base64').toString('utf8');
      for (const secret of on.secrets) expect(text).not.toContain(secret);
    }
  });

  test('concurrent requests with the same request id have separate entries and records', async () => {
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

  test('an override has a separate record, after any number of changes within the minute', async () => {
    const id = await on.raise(1004, 3);
    for (let n = 0; n <= limits.auditSuccessesPerMinute; n++)
      await on.ask('updateAlert', { params: [id], json: { tags: [`${n}`] } });
    await on.ask('updateAlert', { params: [id], json: { ai_override: { verdict: 'benign', reason: 'r' } } });
    const leaf = await on.theOnly({ kind: 'verdict.overridden', subject: { type: 'alert', id } });
    await leadsTo('updateAlert', leaf);
  });

  test('sessions and passwords have separate records after any number of reads and changes by their owner', async () => {
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

  test('a restored backup is recorded once, in the log that continues from the backup', async () => {
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
