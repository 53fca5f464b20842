import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LoginThrottle } from '../../src/admission/login-throttle.ts';
import { accessTokens } from '../../src/identities/access-token.ts';
import { createAuthenticator } from '../../src/identities/authenticate.ts';
import { ensureAdministrator } from '../../src/identities/bootstrap.ts';
import { issueLongLived } from '../../src/identities/long-lived.ts';
import { hashPassword } from '../../src/identities/passwords.ts';
import { createSignIn, sessionTtlMs } from '../../src/identities/sign-in.ts';
import { limits } from '../../src/limits.ts';
import { openReader } from '../../src/store/reader.ts';
import type { Principal } from '../../src/store/store.ts';
import { openStore } from '../../src/store/writer.ts';
import { uuid7 } from '../../src/uuid.ts';

const start = Date.UTC(2026, 10, 20);
const minute = 60_000;
const password = 'correct horse battery';
const system = { id: 'system', name: 'system' };

const publicPart = ({ d: _private, ...shown }: Record<string, string>) => shown as Record<string, string>;

/** Opens sign-in with a real store and an administrator. */
async function service() {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-auth-'));
  const clock = { now: start };
  const store = openStore({ dataDir, alertWindowMs: 1000, clock: () => clock.now });
  const reader = openReader(dataDir);
  onTestFinished(async () => {
    reader.close();
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  const { privateKey } = generateKeyPairSync('ed25519');
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID() } as unknown as Record<string, string>;
  const tokens = accessTokens({ current: jwk, verifying: [publicPart(jwk)] }, { issuer: 'candor', audience: 'candor' });
  const sources = { now: () => clock.now, newId: () => uuid7(clock.now) };
  const parts = { reader, writer: store, tokens, throttle: new LoginThrottle(), sources };
  const shown: string[] = [];
  await ensureAdministrator(parts, password, (generated) => shown.push(generated));
  const ended: string[] = [];
  const sessions = createSignIn(parts);
  const signIn = {
    ...sessions,
    refresh: (token: string) => sessions.refresh(token, (jti) => ended.push(jti)),
  };
  const authenticate = createAuthenticator(reader, tokens);
  const who = (token: string) => authenticate({ authorization: `Bearer ${token}` }, clock.now);
  const login = (changes: { username?: string; password?: string } = {}, address = '192.0.2.1') =>
    sessions.login({ username: 'admin', password, ...changes }, address, (jti) => ended.push(jti));
  const add = async (changes: Partial<Principal>): Promise<Principal> => {
    const principal: Principal = {
      id: uuid7(clock.now),
      name: 'someone',
      kind: 'user',
      roles: ['viewer'],
      status: 'active',
      created_at: new Date(clock.now).toISOString(),
      ...changes,
    };
    await store.createPrincipal(principal, system);
    return principal;
  };
  return { ...parts, store, clock, shown, signIn, ended, authenticate, who, login, add };
}

const unauthenticated = { code: 'UNAUTHENTICATED' };
const operator = { ...system, roles: ['admin'] as const };

describe('the first start', () => {
  test('creates the administrator once with the given password, without a log entry', async () => {
    const { shown, login, reader, writer, sources, store } = await service();
    expect(await store.outbox(10)).toEqual([]);
    for (const another of ['another password', undefined])
      await ensureAdministrator({ reader, writer, sources }, another, (generated) => shown.push(generated));
    expect(shown).toEqual([]);
    await expect(login({ password: 'another password' })).rejects.toMatchObject(unauthenticated);
    await expect(login()).resolves.toBeDefined();
  });

  test('does not create a second administrator after the first one was renamed', async () => {
    const { shown, reader, writer, sources, store } = await service();
    const { id } = reader.principalByName('admin')!;
    await store.changePrincipal(id, { name: 'root-ops' }, system);
    await ensureAdministrator({ reader, writer, sources }, password, (generated) => shown.push(generated));
    expect([reader.principalByName('admin'), reader.storedPrincipals(1, 10).total]).toEqual([undefined, 1]);
    expect(shown).toEqual([]);
  });

  test('generates a password if none is given, and shows the password before it is stored', async () => {
    const created: Principal[] = [];
    const shown: string[] = [];
    await ensureAdministrator(
      {
        reader: { storedPrincipals: () => ({ principals: [], total: 0 }) },
        writer: { createPrincipal: async (principal) => void created.push(principal) },
        sources: { now: () => start, newId: () => uuid7(start) },
      },
      undefined,
      (generated) => {
        expect(created).toEqual([]);
        shown.push(generated);
      },
    );
    expect(shown).toEqual([expect.stringMatching(/^[A-Za-z0-9_-]{24}$/)]);
    expect(created).toHaveLength(1);
    expect(JSON.stringify(created)).not.toContain(shown[0]);
  });
});

describe('a session', () => {
  test('starts with a login, has the roles and is logged by its identifier', async () => {
    const { login, who, store, reader } = await service();
    const tokens = await login();
    expect(tokens).toMatchObject({
      token_type: 'Bearer',
      expires_in: 900,
      refresh_expires_in: sessionTtlMs / 1000,
    });
    const identity = await who(tokens.access_token);
    expect(identity).toMatchObject({
      principal: { name: 'admin' },
      roles: ['admin'],
      expiresAt: start + 15 * minute,
    });
    const rows = await store.outbox(10);
    expect(rows).toMatchObject([{ kind: 'token.issued', subject: { id: identity.jti }, actor: identity.principal.id }]);
    const stored = JSON.stringify([rows, reader.token(identity.jti!)]);
    for (const secret of [tokens.access_token, tokens.refresh_token, password]) expect(stored).not.toContain(secret);
  });

  test('is refreshed, and the new tokens belong to the session', async () => {
    const { login, who, signIn, clock, store } = await service();
    const first = await login();
    clock.now += 20 * minute;
    await expect(who(first.access_token)).rejects.toMatchObject(unauthenticated);
    const second = await signIn.refresh(first.refresh_token);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(second.refresh_expires_in).toBe(sessionTtlMs / 1000 - 20 * 60);
    await expect(who(second.access_token)).resolves.toMatchObject({ roles: ['admin'] });
    expect(await store.outbox(10)).toHaveLength(1);
  });

  test('ends with all its tokens when a refresh token is used twice', async () => {
    const { login, who, signIn, ended, store } = await service();
    const first = await login();
    const { jti } = await who(first.access_token);
    const second = await signIn.refresh(first.refresh_token);
    expect(ended).toEqual([]);
    await expect(signIn.refresh(first.refresh_token)).rejects.toMatchObject(unauthenticated);
    await expect(signIn.refresh(second.refresh_token)).rejects.toMatchObject(unauthenticated);
    await expect(who(second.access_token)).rejects.toMatchObject(unauthenticated);
    expect((await store.outbox(10)).map(({ kind }) => kind)).toEqual(['token.issued', 'token.revoked']);
    expect(ended).toContain(jti);
  });

  test("is not ended by a made-up refresh token with the session's identifier from the log", async () => {
    const { login, who, signIn, ended, store } = await service();
    const { access_token, refresh_token } = await login();
    const { jti } = await who(access_token);
    const forged = `refresh_${jti}_${'A'.repeat(43)}`;
    await expect(signIn.refresh(forged)).rejects.toMatchObject(unauthenticated);
    await expect(who(access_token)).resolves.toBeDefined();
    await expect(signIn.refresh(refresh_token)).resolves.toBeDefined();
    expect(ended).toEqual([]);
    expect(await store.outbox(10)).toHaveLength(1);
  });

  test('does not end another session of the same principal', async () => {
    const { login, who, signIn } = await service();
    const [one, two] = [await login(), await login()];
    await signIn.logout(await who(one.access_token));
    await expect(who(one.access_token)).rejects.toMatchObject(unauthenticated);
    await expect(signIn.refresh(one.refresh_token)).rejects.toMatchObject(unauthenticated);
    await expect(who(two.access_token)).resolves.toBeDefined();
  });

  test('expires even if refreshed regularly', async () => {
    const { login, signIn, clock } = await service();
    let { refresh_token } = await login();
    for (let days = 1; days < 7; days++) {
      clock.now += 24 * 60 * minute;
      ({ refresh_token } = await signIn.refresh(refresh_token));
    }
    clock.now += 24 * 60 * minute;
    await expect(signIn.refresh(refresh_token)).rejects.toMatchObject(unauthenticated);
  });

  test('is ended if it is the oldest of a principal with too many sessions, and is reported', async () => {
    const { login, who, store, reader, clock, ended } = await service();
    const { access_token } = await login();
    const first = await who(access_token);
    const session = reader.token(first.jti!)!;
    clock.now += 1;
    const others = Array.from({ length: limits.maxTokensPerPrincipal - 1 }, () =>
      store.addToken({ ...session, jti: uuid7(clock.now) }, system),
    );
    await Promise.all(others);
    expect(ended).toEqual([]);
    await login();
    expect(ended).toEqual([first.jti]);
    await expect(who(access_token)).rejects.toMatchObject(unauthenticated);
  });

  test.for(['', 'refresh_', 'candor_x', 'x'.repeat(5000)])('is not refreshed by %j', async (text) => {
    const { signIn } = await service();
    await expect(signIn.refresh(text)).rejects.toMatchObject(unauthenticated);
  });
});

describe('a login', () => {
  test('returns the same error for a wrong password, an unknown name, a suspended account and an account without password', async () => {
    const { login, add } = await service();
    const password_hash = await hashPassword(password);
    await add({ name: 'suspended', status: 'suspended', password_hash });
    await add({ name: 'sensor', kind: 'sensor' });
    const attempts = [{ password: 'wrong' }, { username: 'nobody' }, { username: 'suspended' }, { username: 'sensor' }];
    const errors = await Promise.all(attempts.map((attempt) => login(attempt).catch((error: unknown) => error)));
    for (const error of errors)
      expect(error).toMatchObject({ ...unauthenticated, message: (errors[0] as Error).message });
  });

  test('is throttled by account from any address, and by address', async () => {
    const { login, clock } = await service();
    for (let i = 0; i < limits.maxAccountLoginFailuresPerMinute; i++)
      await expect(login({ password: 'wrong' }, `192.0.2.${i}`)).rejects.toMatchObject(unauthenticated);
    await expect(login({}, '203.0.113.1')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    clock.now += minute;
    await expect(login({}, '203.0.113.1')).resolves.toBeDefined();
    for (let i = 0; i < limits.maxLoginFailuresPerMinute; i++)
      await expect(login({ username: `n${i}` }, '198.51.100.1')).rejects.toMatchObject(unauthenticated);
    await expect(login({}, '198.51.100.1')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await expect(login({}, '198.51.100.2')).resolves.toBeDefined();
  });
});

test('credentials have the configured lifetimes', async () => {
  const { reader, writer, throttle, sources, tokens } = await service();
  const lives = { accessTokenMs: 2 * minute, sessionMs: 10 * minute };
  const { login } = createSignIn({ reader, writer, tokens, throttle, sources, lives });
  const session = await login({ username: 'admin', password }, '192.0.2.1', () => undefined);
  expect([session.expires_in, session.refresh_expires_in]).toEqual([120, 600]);
});

describe('credentials', () => {
  test.for([undefined, '', 'Basic YTpi', 'Bearer', 'Bearer ', 'Bearer a b', 'Bearer x', 'Bearer candor_x'])(
    'are rejected if missing or invalid: %j',
    async (header) => {
      const { authenticate } = await service();
      await expect(authenticate({ authorization: header }, start)).rejects.toMatchObject(unauthenticated);
    },
  );

  test('are valid until they expire or are revoked, if they belong to a machine', async () => {
    const { add, who, clock, reader, store, ...parts } = await service();
    const sensor = await add({ name: 'zeek-1', kind: 'sensor', roles: ['sensor'] });
    const expires_at = new Date(start + 60 * minute).toISOString();
    const issued = await issueLongLived(parts, sensor, { name: 'x', roles: ['sensor'], expires_at }, operator);
    expect(issued.token).toBe(`candor_${issued.record.jti}_${issued.token.slice(-43)}`);
    await expect(who(issued.token)).resolves.toMatchObject({
      principal: { id: sensor.id },
      roles: ['sensor'],
      jti: issued.record.jti,
      expiresAt: start + 60 * minute,
    });
    const wrong = `${issued.token.slice(0, -1)}${issued.token.endsWith('A') ? 'B' : 'A'}`;
    await expect(who(wrong)).rejects.toMatchObject(unauthenticated);
    const endless = await issueLongLived(parts, sensor, { name: 'y', roles: ['sensor'] }, operator);
    expect(await who(endless.token)).not.toHaveProperty('expiresAt');
    clock.now += 60 * minute;
    await expect(who(issued.token)).rejects.toMatchObject(unauthenticated);
    await store.revokeToken(endless.record.jti, system);
    await expect(who(endless.token)).rejects.toMatchObject(unauthenticated);
  });

  test('cannot be issued with roles that the principal lacks or with an expiry in the past', async () => {
    const { add, ...parts } = await service();
    const sensor = await add({ name: 'zeek-1', roles: ['sensor'] });
    await expect(issueLongLived(parts, sensor, { name: 'x', roles: ['admin'] }, operator)).rejects.toMatchObject({
      details: { field: 'scopes' },
    });
    const expires_at = new Date(start).toISOString();
    await expect(
      issueLongLived(parts, sensor, { name: 'x', roles: ['sensor'], expires_at }, operator),
    ).rejects.toMatchObject({ details: { field: 'expires_at' } });
  });

  test('have the roles that their principal still has, and are rejected if the principal is suspended', async () => {
    const { reader, tokens, login, clock } = await service();
    const { access_token } = await login();
    let principal: Principal | undefined = reader.principalByName('admin');
    const holder = (jti: string) => ({ ...reader.holder(jti)!, principal });
    const changed = createAuthenticator({ ...reader, holder }, tokens);
    const ask = () => changed({ authorization: `bearer ${access_token}` }, clock.now);
    expect((await ask()).roles).toEqual(['admin']);
    principal = { ...principal!, roles: ['viewer'] };
    expect((await ask()).roles).toEqual([]);
    principal = { ...principal, status: 'suspended' };
    await expect(ask()).rejects.toMatchObject(unauthenticated);
    principal = undefined;
    await expect(ask()).rejects.toMatchObject(unauthenticated);
  });
});
