import { createHmac, generateKeyPairSync, type JsonWebKey, randomUUID } from 'node:crypto';
import { verify as realVerify } from '@node-rs/argon2';
import { CompactSign, createLocalJWKSet, decodeJwt, decodeProtectedHeader, importJWK, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { limits } from '../../src/limits.ts';
import { openService, password, type Service } from './service.ts';

// The real module, with calls counted.
vi.mock('@node-rs/argon2', { spy: true });

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const attempt = (username: string, secret: string, on: Service = service) =>
  on.call('login', 'POST /auth/login', { json: { username, password: secret } });
const login = async () => (await attempt('admin', password)).body as Tokens;
const refresh = (refresh_token: string) => service.call('refresh', 'POST /auth/refresh', { json: { refresh_token } });
const me = async (token: string) => (await service.call('whoAmI', 'GET /auth/me', { token })).status;

const unauthenticated = { status: 401, body: { error: { code: 'UNAUTHENTICATED' } } };

describe('a session', () => {
  test('is renewed repeatedly, each refresh token once', async () => {
    let { access_token, refresh_token } = await login();
    const { jti } = decodeJwt(access_token);
    for (let n = 0; n < 3; n++) {
      const answer = await refresh(refresh_token);
      expect(answer.status).toBe(200);
      const renewed = answer.body as Tokens;
      expect(renewed.refresh_token).not.toBe(refresh_token);
      expect(decodeJwt(renewed.access_token).jti).toBe(jti);
      ({ access_token, refresh_token } = renewed);
      expect(await me(access_token)).toBe(200);
    }
  });

  test('ends, with every token of its family, if a refresh token is used twice', async () => {
    const [first, other] = [await login(), await login()];
    const second = (await refresh(first.refresh_token)).body as Tokens;
    const third = (await refresh(second.refresh_token)).body as Tokens;
    expect(await refresh(first.refresh_token)).toMatchObject(unauthenticated);
    expect(await refresh(third.refresh_token)).toMatchObject(unauthenticated);
    const statuses = [first, second, third, other].map(({ access_token }) => me(access_token));
    expect(await Promise.all(statuses)).toEqual([401, 401, 401, 200]);
  });

  test('ends when two clients refresh it at the same time, because one client may be an attacker', async () => {
    const { refresh_token, access_token } = await login();
    const answers = await Promise.all([refresh(refresh_token), refresh(refresh_token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    const won = answers.find(({ status }) => status === 200)!.body as Tokens;
    expect(await refresh(won.refresh_token)).toMatchObject(unauthenticated);
    expect(await Promise.all([me(access_token), me(won.access_token)])).toEqual([401, 401]);
  });

  test('ends with logout, which works once', async () => {
    const { access_token, refresh_token } = await login();
    const logout = () => service.call('logout', 'POST /auth/logout', { token: access_token });
    expect((await logout()).status).toBe(204);
    expect(await logout()).toMatchObject(unauthenticated);
    expect(await refresh(refresh_token)).toMatchObject(unauthenticated);
    expect(await me(access_token)).toBe(401);
  });

  test('shows its principal, without secrets', async () => {
    const { access_token } = await login();
    const { body } = await service.call('whoAmI', 'GET /auth/me', { token: access_token });
    expect(body).toMatchObject({
      data: { type: 'principal', attributes: { name: 'admin', roles: ['admin'] } },
    });
    expect(JSON.stringify(body)).not.toContain('argon2');
  });

  test('is not opened by a refresh token, nor refreshed by an access token', async () => {
    const { access_token, refresh_token } = await login();
    expect(await me(refresh_token)).toBe(401);
    expect(await refresh(access_token)).toMatchObject(unauthenticated);
  });
});

describe('an access token', () => {
  test('can be verified by third parties with the key set', async () => {
    const { access_token } = await login();
    const { body } = await service.call('getKeySet', 'GET /.well-known/jwks.json');
    const { payload, protectedHeader } = await jwtVerify(
      access_token,
      createLocalJWKSet(body as Parameters<typeof createLocalJWKSet>[0]),
      { issuer: 'candor', audience: 'candor', typ: 'at+jwt', algorithms: ['EdDSA'] },
    );
    expect(protectedHeader).toMatchObject({ alg: 'EdDSA', kid: expect.any(String) });
    expect(payload).toMatchObject({ jti: expect.any(String), sub: expect.any(String), roles: ['admin'] });
  });

  /** Returns a session's access token, its parts, and a function that signs changed parts with the token's key. */
  async function forger() {
    const { access_token } = await login();
    const { current } = await service.ledger.accessTokenKeys();
    const key = await importJWK(current as JsonWebKey, 'EdDSA');
    const payload = decodeJwt(access_token);
    const header = decodeProtectedHeader(access_token);
    const sign = (changes: object, headers: object = {}, by: Parameters<CompactSign['sign']>[0] = key) =>
      new CompactSign(Buffer.from(JSON.stringify({ ...payload, ...changes })))
        .setProtectedHeader({ ...header, ...headers } as Parameters<CompactSign['setProtectedHeader']>[0])
        .sign(by);
    return { access_token, current, payload, header, sign };
  }

  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = () => Math.floor(Date.now() / 1000);
  const stranger = generateKeyPairSync('ed25519').privateKey;

  type Forger = Awaited<ReturnType<typeof forger>>;
  const bad: Record<string, (forger: Forger) => string | Promise<string>> = {
    'alg none': ({ header, payload }) => `${encode({ ...header, alg: 'none' })}.${encode(payload)}.`,
    'HS256 with the public key as a secret': ({ header, payload, current }) => {
      const input = `${encode({ ...header, alg: 'HS256' })}.${encode(payload)}`;
      const secret = Buffer.from(String(current.x), 'base64url');
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
    },
    'RS256 in the header': ({ header, access_token }) => {
      const [, body, signature] = access_token.split('.');
      return `${encode({ ...header, alg: 'RS256' })}.${body}.${signature}`;
    },
    "another key under the service's kid": ({ sign }) => sign({}, {}, stranger),
    'an unknown kid': ({ sign }) => sign({}, { kid: randomUUID() }),
    'no type': ({ sign }) => sign({}, { typ: undefined }),
    'another issuer': ({ sign }) => sign({ iss: 'somebody' }),
    'another audience': ({ sign }) => sign({ aud: 'something' }),
    'expired beyond the skew': ({ sign }) => sign({ exp: seconds() - 60 }),
    'not valid yet': ({ sign }) => sign({ nbf: seconds() + 60 }),
    'the session of another user': ({ sign }) => sign({ sub: randomUUID() }),
    'an unknown session': ({ sign }) => sign({ jti: randomUUID() }),
  };

  test.for(Object.keys(bad))('is refused: %s', async (name) => {
    const made = await forger();
    expect(await me(await made.sign({}))).toBe(200);
    expect(await me(await bad[name]!(made))).toBe(401);
  });

  test('is refused under the kid of a key for another purpose', async () => {
    const { sign, header } = await forger();
    const list = await service.call('listKeys', 'GET /api/v1/keys', { token: (await login()).access_token });
    const keys = (list.body as { data: { id: string; attributes: { kid: string; purpose: string } }[] }).data;
    const others = keys.filter(({ attributes }) => attributes.kid !== header.kid);
    expect(new Set(others.map(({ attributes }) => attributes.purpose)).size).toBeGreaterThan(1);
    for (const { attributes } of others) expect(await me(await sign({}, { kid: attributes.kid }))).toBe(401);
  });

  test('is accepted within the allowed clock skew', async () => {
    const { sign } = await forger();
    expect(await me(await sign({ exp: seconds() - 1 }))).toBe(200);
    expect(await me(await sign({ nbf: seconds() + 3 }))).toBe(200);
  });
});

describe('a login', () => {
  test('takes one password verification, whether the username is known or not', async () => {
    await attempt('nobody', 'x'); // The hash for unknown usernames is made once.
    const verify = vi.mocked(realVerify);
    const counted = async (username: string) => {
      verify.mockClear();
      await attempt(username, 'wrong');
      return verify.mock.calls.map(([hash]) => String(hash).split('$').slice(0, 4).join('$'));
    };
    const known = await counted('admin');
    expect(known).toEqual(['$argon2id$v=19$m=19456,t=2,p=1']);
    for (const unknown of ['nobody', 'Admin', 'admin ']) expect(await counted(unknown)).toEqual(known);
  });

  test('is throttled, with the time to wait, before a password is verified', async () => {
    const throttled = await openService();
    try {
      for (let n = 0; n < limits.maxLoginFailuresPerMinute; n++)
        expect((await attempt('admin', `wrong ${n}`, throttled)).status).toBe(401);
      vi.mocked(realVerify).mockClear();
      const refused = await attempt('admin', password, throttled);
      expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await attempt('another', password, throttled)).status).toBe(429);
      expect(realVerify).not.toHaveBeenCalled();
    } finally {
      await throttled.close();
    }
  });
});
