import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LoginThrottle } from '../../src/admission/login-throttle.ts';
import { createChangePassword } from '../../src/identities/change-password.ts';
import { hashPassword, verifyPassword } from '../../src/identities/passwords.ts';
import { createSignIn } from '../../src/identities/sign-in.ts';
import { openReader } from '../../src/store/reader.ts';
import type { Principal } from '../../src/store/store.ts';
import { openStore } from '../../src/store/writer.ts';
import { uuid7 } from '../../src/uuid.ts';

const [old, next, reset] = ['correct horse battery', 'another horse battery', 'reset horse battery'];
const system = { id: 'system', name: 'system' };
const address = '192.0.2.1';

/** Opens a store with a user. `byAdmin` has the changes that an administrator can make to the user. */
async function setUp() {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-password-'));
  const store = openStore({ dataDir, alertWindowMs: 1000 });
  const reader = openReader(dataDir);
  onTestFinished(async () => {
    reader.close();
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  const principal: Principal = {
    id: uuid7(Date.now()),
    name: 'zoe',
    kind: 'user',
    roles: ['viewer'],
    status: 'active',
    password_hash: await hashPassword(old),
    created_at: new Date().toISOString(),
  };
  const admin = { ...principal, id: uuid7(Date.now()), name: 'admin', roles: ['admin'] as const };
  await store.createPrincipal(admin, system);
  await store.createPrincipal(principal, system);
  const byAdmin = {
    reset: async () => {
      const password_hash = await hashPassword(reset);
      await store.changePrincipal(principal.id, { password_hash }, system);
    },
    suspend: async () => void (await store.changePrincipal(principal.id, { status: 'suspended' }, system)),
  };
  return { store, reader, principal, byAdmin, throttle: new LoginThrottle() };
}

type World = Awaited<ReturnType<typeof setUp>>;

const change = ({ reader, store, throttle, principal }: World, writer: Partial<World['store']> = {}) =>
  createChangePassword({
    reader,
    writer: { changePrincipal: store.changePrincipal.bind(store), ...writer },
    throttle,
    now: Date.now,
  }).changePassword({ principal }, { current_password: old, new_password: next }, address);

test('a password change by a caller without a session, such as a caller with a certificate, ends all sessions', async () => {
  const world = await setUp();
  const session = { jti: uuid7(Date.now()), kind: 'session', principal_id: world.principal.id } as const;
  const issued_at = new Date().toISOString();
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  await world.store.addToken({ ...session, roles: [], secret_hash: 'x', issued_at, expires_at }, system);
  expect((await change(world)).ended).toEqual([session.jti]);
  expect(await verifyPassword(world.reader.principal(world.principal.id)?.password_hash, next)).toBe(true);
});

test('a concurrent password reset by an administrator is not overwritten', async () => {
  const world = await setUp();
  const { store, byAdmin } = world;
  const late: World['store']['changePrincipal'] = async (...change) => {
    await byAdmin.reset();
    return store.changePrincipal(...change);
  };
  await expect(change(world, { changePrincipal: late })).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(await verifyPassword(world.reader.principal(world.principal.id)?.password_hash, reset)).toBe(true);
});

test.for(['reset', 'suspend'] as const)('a login during a %s by an administrator starts no session', async (what) => {
  const { store, reader, throttle, byAdmin } = await setUp();
  const added: string[] = [];
  const signIn = createSignIn({
    reader,
    throttle,
    writer: {
      addToken: async (token, by) => {
        await byAdmin[what]();
        added.push(token.jti);
        return store.addToken(token, by);
      },
      revokeToken: store.revokeToken.bind(store),
      rotateSession: store.rotateSession.bind(store),
      changePrincipal: store.changePrincipal.bind(store),
      createPrincipal: store.createPrincipal.bind(store),
      noteTokenUse: store.noteTokenUse.bind(store),
    },
    tokens: {
      issue: async () => 'token',
      verify: () => Promise.reject(new Error('not here')),
      use: () => undefined,
    },
    sources: { now: Date.now, newId: () => uuid7(Date.now()) },
  });
  await expect(signIn.login({ username: 'zoe', password: old }, address, () => undefined)).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  });
  expect(added).toHaveLength(1);
  expect(reader.token(added[0]!)).toHaveProperty('revoked_at');
});
