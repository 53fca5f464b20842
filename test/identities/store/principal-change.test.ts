import { describe, expect, test } from 'vitest';
import { uuid7 } from '../../../src/uuid.ts';
import { start } from '../../store/opened.ts';
import { longLived, principal, session, system } from './identity-records.ts';
import { withAdmin } from './with-admin.ts';

async function withTwo(options: Parameters<typeof withAdmin>[0] = {}) {
  const open = await withAdmin(options);
  const second = principal('second', { roles: ['viewer'] });
  await open.store.createPrincipal(second, open.admin);
  const change = (
    ...[wanted, terms]: [Parameters<typeof open.store.changePrincipal>[1], { version?: number; keptSession?: string }?]
  ) => open.store.changePrincipal(second.id, wanted, { id: open.admin.id, name: open.admin.name }, terms);
  return { ...open, second, change };
}

describe('a change of a principal', () => {
  test('of the name frees the old name and reserves the new name', async () => {
    const { store, reader, admin, second, change, kinds } = await withTwo();
    const { principal: renamed, ended } = await change({ name: 'zweite' });
    expect(renamed).toEqual({ ...second, name: 'zweite', version: 2 });
    expect(ended).toEqual([]);
    expect(reader.principal(second.id)).toEqual(renamed);
    expect(reader.principalByName('zweite')).toEqual(renamed);
    expect(reader.principalByName('second')).toBeUndefined();
    await store.createPrincipal(principal('second'), admin);
    const conflict = { code: 'CONFLICT', details: { field: 'name' } };
    await expect(change({ name: 'second', status: 'suspended' })).rejects.toMatchObject(conflict);
    await expect(change({ name: 'admin' })).rejects.toMatchObject(conflict);
    await expect(store.createPrincipal(principal('zweite'), admin)).rejects.toMatchObject(conflict);
    expect(reader.principal(second.id)).toEqual(renamed);
    expect(await kinds()).toEqual(['principal.provisioned', 'principal.provisioned']);
  });

  test('to a name that resembles another principal’s name is rejected, but another spelling of its own name is accepted', async () => {
    const { store, reader, admin, second, change } = await withTwo();
    const alike = { code: 'CONFLICT', details: { field: 'name', reason: 'looks like a name that is taken' } };
    for (const name of ['Admin', 'ＡＤＭＩＮ', '\u{1d41a}dmin']) {
      await expect(store.createPrincipal(principal(name), admin)).rejects.toMatchObject(alike);
      await expect(change({ name })).rejects.toMatchObject(alike);
    }
    await change({ name: 'SECOND' });
    expect(reader.principalByName('second')).toBeUndefined();
    expect(reader.principalByName('SECOND')?.id).toBe(second.id);
    await expect(store.createPrincipal(principal('second'), admin)).rejects.toMatchObject(alike);
    await change({ name: 'third' });
    await store.createPrincipal(principal('Second'), admin);
  });

  test('is logged: the status and the roles, before and after, with the author', async () => {
    const { admin, second, change, rows } = await withTwo();
    const { principal: changed } = await change({ status: 'suspended', roles: ['sensor', 'analyst'] });
    expect(changed).toMatchObject({ status: 'suspended', roles: ['sensor', 'analyst'], version: 2 });
    const by = { actor: admin.id, subject: { type: 'principal', id: second.id } };
    expect((await rows()).slice(1)).toMatchObject([
      { kind: 'principal.status_changed', ...by, data: { from: 'active', to: 'suspended' } },
      { kind: 'principal.role_changed', ...by, data: { from: ['viewer'], to: ['sensor', 'analyst'] } },
    ]);
  });

  test('without effect returns the unchanged principal, and does not add a row', async () => {
    const { reader, second, change, kinds } = await withTwo();
    await change({ roles: ['viewer', 'analyst'] });
    const before = reader.principal(second.id)!;
    const { name, status, password_hash } = before;
    for (const same of [
      {},
      { name, status, password_hash: password_hash! },
      { roles: ['analyst', 'viewer', 'analyst'] as const },
    ])
      expect(await change(same)).toEqual({ principal: before, ended: [] });
    expect(reader.principal(second.id)).toEqual(before);
    expect(await kinds()).toEqual(['principal.provisioned', 'principal.role_changed']);
  });

  test('requires the current version', async () => {
    const { store, admin, second, change } = await withTwo();
    const mismatch = { code: 'VERSION_MISMATCH' };
    await expect(change({ status: 'suspended' }, { version: 2 })).rejects.toMatchObject(mismatch);
    expect((await change({ status: 'suspended' }, { version: 1 })).principal.version).toBe(2);
    await expect(change({ status: 'active' }, { version: 1 })).rejects.toMatchObject(mismatch);
    await expect(change({}, { version: 1 })).rejects.toMatchObject(mismatch);
    const both = [1, 2].map((n) => change({ name: `n${n}` }, { version: 2 }));
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await store.addToken(session(second), second);
    expect((await change({ status: 'active' }, { version: 3 })).principal.version).toBe(4);
    await expect(store.changePrincipal(uuid7(start), {}, admin)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(store.changePrincipal('x', {}, admin)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a new password', () => {
  test('ends all sessions of its principal except the given one, each with its entry', async () => {
    const { store, reader, admin, second, change, rows, clock } = await withTwo();
    const sessions = Array.from({ length: 4 }, () => session(second));
    const expired = session(second, { expires_at: new Date(start).toISOString() });
    const untouched = [session(admin), longLived(second), expired];
    for (const token of [...sessions, ...untouched]) await store.addToken(token, system);
    const [kept, loggedOut, ...ending] = sessions.map(({ jti }) => jti) as [string, string, ...string[]];
    await store.revokeToken(loggedOut, second);
    clock.now += 1000;
    const before = (await rows()).length;

    const { principal: changed, ended } = await change({ password_hash: '$argon2id$1' }, { keptSession: kept });
    expect(changed.password_hash).toBe('$argon2id$1');
    expect([...ended].sort()).toEqual([...ending].sort());
    const entries = (await rows()).slice(before);
    expect(entries.map(({ kind, actor, subject }) => [kind, actor, subject.id])).toEqual(
      ended.map((jti) => ['token.revoked', admin.id, jti]),
    );
    const at = new Date(clock.now).toISOString();
    for (const jti of ending) expect(reader.token(jti)?.revoked_at).toBe(at);
    for (const jti of [kept, ...untouched.map((token) => token.jti)])
      expect(reader.token(jti)?.revoked_at).toBeUndefined();
    expect((await change({ password_hash: '$argon2id$2' })).ended).toEqual([kept]);
    expect((await change({ password_hash: '$argon2id$3' })).ended).toEqual([]);
  });

  test('is the only change that ends sessions: sessions remain after a suspension, new roles and a new name', async () => {
    const { store, reader, second, change } = await withTwo();
    const token = session(second);
    await store.addToken(token, second);
    for (const status of ['suspended', 'active'] as const) expect((await change({ status })).ended).toEqual([]);
    await change({ roles: ['analyst'], name: 'other' });
    expect(reader.token(token.jti)).toEqual(token);
  });

  test('is rejected without changes if there is no room for all of its entries', async () => {
    const { store, reader, second, change, rows } = await withTwo({ maxOutboxRows: 7 });
    for (let n = 0; n < 4; n++) await store.addToken(session(second), second);
    const before = reader.principal(second.id);
    const wanted = { password_hash: '$argon2id$1' };
    expect(await rows()).toHaveLength(5);
    await expect(change(wanted)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { reason: 'outbox_full' },
    });
    expect(reader.principal(second.id)).toEqual(before);
    expect(await rows()).toHaveLength(5);
    expect((await change({ name: 'other' })).principal.name).toBe('other');
    const settled = (await rows()).slice(0, 2);
    await store.settle(settled.map(({ id }, i) => ({ id, leaf_index: i, tree_size: 2, leaf_hash: '00' })));
    expect((await change(wanted)).ended).toHaveLength(4);
    expect(await rows()).toHaveLength(7);
  });

  test('ends earlier sessions, even from the same commit, and does not end later sessions', async () => {
    const { store, reader, second, change } = await withTwo();
    const [before, after] = [0, 1].map(() => Array.from({ length: 10 }, () => session(second))) as [
      ReturnType<typeof session>[],
      ReturnType<typeof session>[],
    ];
    const adding = before.map((token) => store.addToken(token, second));
    const changing = change({ password_hash: '$argon2id$1' });
    adding.push(...after.map((token) => store.addToken(token, second)));
    await Promise.all(adding);
    expect([...(await changing).ended].sort()).toEqual(before.map(({ jti }) => jti).sort());
    for (const token of after) expect(reader.token(token.jti)).toEqual(token);
    expect(reader.principal(second.id)).toMatchObject({
      password_hash: '$argon2id$1',
      version: 2,
      last_login_at: after[0]!.issued_at,
    });
  });
});
