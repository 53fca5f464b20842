import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { limits } from '../../../src/limits.ts';
import type { Principal } from '../../../src/store/store.ts';
import { openStore } from '../../../src/store/writer.ts';
import { allTokens, hour, resources, start } from '../../store/opened.ts';
import { day, principal, session, system } from './identity-records.ts';
import { withAdmin } from './with-admin.ts';

describe('principals', () => {
  test('are logged, except the first principal, which is part of the initialisation', async () => {
    const { store, reader, admin, kinds } = await withAdmin();
    expect(await kinds()).toEqual([]);
    const second = principal('sensor', { kind: 'sensor', roles: ['sensor'] });
    await store.createPrincipal(second, admin);
    expect(await store.outbox(10)).toMatchObject([
      {
        kind: 'principal.provisioned',
        actor: admin.id,
        subject: { type: 'principal', id: second.id },
        data: { name: 'sensor', kind: 'sensor', roles: ['sensor'] },
      },
    ]);
    expect(reader.principalByName('sensor')).toEqual(second);
    expect(reader.principal(admin.id)).toEqual(admin);
  });

  test('have a unique name, of any length', async () => {
    const { store, reader } = await withAdmin();
    await expect(store.createPrincipal(principal('admin'), system)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    const long = 'n'.repeat(5000);
    await store.createPrincipal(principal(long), system);
    expect(reader.principalByName(long)).toBeDefined();
    expect(reader.principalByName(`${long}n`)).toBeUndefined();
    expect(reader.principal('x'.repeat(5000))).toBeUndefined();
  });

  test('are created once if two requests use the same name at the same time', async () => {
    const { store } = await withAdmin();
    const both = ['x', 'x'].map((name) => store.createPrincipal(principal(name), system));
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});

test('the number of principals is limited', async () => {
  const { store, reader, admin, dataDir } = await withAdmin();
  reader.close();
  await store.close();
  const root = openDatabase(join(dataDir, 'siem.mdb'));
  const principals = root.openDB<Principal, string>({ name: 'principals' });
  root.transactionSync(() => {
    for (let n = 2; n < limits.maxPrincipals; n++) principals.putSync(`${n}`, admin);
  });
  await root.close();
  const full = openStore({ dataDir, alertWindowMs: hour });
  await full.createPrincipal(principal('last'), admin);
  await expect(full.createPrincipal(principal('one more'), admin)).rejects.toMatchObject({
    code: 'CONFLICT',
    details: { reason: 'too many principals' },
  });
  expect((await full.changePrincipal(admin.id, { name: 'root' }, admin)).principal.name).toBe('root');
  await full.close();
});

describe('tokens', () => {
  test('are logged by their identifier only, and a login updates last_login_at', async () => {
    const { store, reader, admin } = await withAdmin();
    const token = session(admin);
    await store.addToken(token, admin);
    const [row] = await store.outbox(10);
    expect(row).toMatchObject({ kind: 'token.issued', subject: { type: 'token', id: token.jti }, data: {} });
    expect(JSON.stringify(row)).not.toContain('h1');
    expect(reader.token(token.jti)).toEqual(token);
    const { secret_hash: _, family_hash: __, roles: scopes, ...shown } = token;
    expect(resources(reader.listTokens(allTokens, start))).toEqual([
      { id: token.jti, type: 'token', attributes: { ...shown, scopes } },
    ]);
    expect(reader.principal(admin.id)?.last_login_at).toBe(token.issued_at);
  });

  test('are rejected for an unknown principal and under an existing identifier', async () => {
    const { store, admin } = await withAdmin();
    const token = session(admin);
    await store.addToken(token, admin);
    await expect(store.addToken(token, admin)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(store.addToken(session(principal('nobody')), admin)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  test('are revoked once', async () => {
    const { store, reader, admin, kinds } = await withAdmin();
    const token = session(admin);
    await store.addToken(token, admin);
    expect(await store.revokeToken(token.jti, admin)).toBe(true);
    expect(await store.revokeToken(token.jti, admin)).toBe(false);
    expect(await store.revokeToken('unknown', admin)).toBe(false);
    expect(reader.token(token.jti)?.revoked_at).toBeDefined();
    expect(await kinds()).toEqual(['token.issued', 'token.revoked']);
  });

  test('rotate the secret of a session; a reused secret ends the session', async () => {
    const { store, reader, admin, kinds } = await withAdmin();
    const token = session(admin);
    await store.addToken(token, admin);
    expect(await store.rotateSession(token.jti, 'h1', 'h2', admin)).toBe(true);
    expect(reader.token(token.jti)?.secret_hash).toBe('h2');
    expect(await store.rotateSession(token.jti, 'h1', 'h3', admin)).toBe(false);
    expect(reader.token(token.jti)?.revoked_at).toBeDefined();
    expect(await store.rotateSession(token.jti, 'h2', 'h3', admin)).toBe(false);
    expect(await kinds()).toEqual(['token.issued', 'token.revoked']);
  });

  test('end the session at the second of two concurrent rotations with one secret', async () => {
    const { store, reader, admin } = await withAdmin();
    const token = session(admin);
    await store.addToken(token, admin);
    const both = ['h2', 'h3'].map((next) => store.rotateSession(token.jti, 'h1', next, admin));
    expect(await Promise.all(both)).toEqual([true, false]);
    expect(reader.token(token.jti)?.revoked_at).toBeDefined();
  });

  test('that ended are removed a day later, except long-lived tokens', async () => {
    const { store, reader, admin, clock } = await withAdmin();
    const ended = session(admin);
    await store.addToken(ended, admin);
    for (let i = 0; i < 4; i++) await store.addToken(session(admin), admin);
    const { expires_at: _, ...endless } = session(admin, { kind: 'long_lived' });
    await store.addToken(endless, admin);
    clock.now += 8 * day;
    expect(await store.rotateSession(ended.jti, 'h1', 'h2', admin)).toBe(false);
    const latest = () => session(admin, { expires_at: new Date(clock.now + day).toISOString() });
    for (let i = 0; i < 2; i++) await store.addToken(latest(), admin);
    expect(reader.listTokens(allTokens, clock.now).total).toBe(3);
    expect(reader.token(endless.jti)).toBeDefined();
  });
});
