import { createHmac, generateKeyPairSync, type JsonWebKey, randomUUID } from 'node:crypto';
import { CompactSign, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { accessTokens, accessTokenTtlMs, type TokenKeys } from '../../src/identities/access-token.ts';

const now = Date.UTC(2026, 10, 20);
const terms = { issuer: 'https://siem.example', audience: 'candor' };

function signingKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const kid = randomUUID();
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid, alg: 'EdDSA', use: 'sig' };
  return { jwk: jwk as unknown as Record<string, string>, privateKey, publicKey, kid };
}

const key = signingKey();
const other = signingKey();
const keysOf = (current: typeof key, ...before: (typeof key)[]): TokenKeys => ({
  current: current.jwk,
  verifying: [...before, current].map(({ jwk: { d: _private, ...shown } }) => shown as Record<string, string>),
});
const tokens = accessTokens(keysOf(key), terms);
const claims = { sub: randomUUID(), jti: randomUUID(), roles: ['analyst'] as const };

const seconds = Math.floor(now / 1000);
const payload = {
  iss: terms.issuer,
  aud: terms.audience,
  sub: claims.sub,
  jti: claims.jti,
  roles: claims.roles,
  iat: seconds,
  exp: seconds + 900,
};
const header = { alg: 'EdDSA', typ: 'at+jwt', kid: key.kid };

const signed = (changes: object = {}, headers: object = {}, by = key.privateKey) =>
  new CompactSign(Buffer.from(JSON.stringify({ ...payload, ...changes })))
    .setProtectedHeader({ ...header, ...headers })
    .sign(by);

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function hs256(secret: string | Buffer): string {
  const input = `${encode({ ...header, alg: 'HS256' })}.${encode(payload)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

describe('an access token', () => {
  test('issued while the clock was ahead is refused until 5 s before its time of issue, even if it was verified before', async () => {
    const ahead = now + 365 * 86_400_000;
    const token = await tokens.issue(claims, ahead);
    await expect(tokens.verify(token, now)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(tokens.verify(token, ahead - 6000)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await tokens.verify(token, ahead - 5000)).toMatchObject({ jti: claims.jti });
    await expect(tokens.verify(token, now)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await tokens.verify(token, ahead)).toMatchObject({ jti: claims.jti });
  });

  test('has a single accepted encoding, with unused bits as issued and without padding', async () => {
    const token = await tokens.issue(claims, now);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const signature = (text: string) => Buffer.from(text.split('.')[2]!, 'base64url').toString('hex');
    const others = [...alphabet]
      .flatMap((last) => ['', '=', '=='].map((padding) => token.slice(0, -1) + last + padding))
      .filter((spelling) => spelling !== token && signature(spelling) === signature(token));
    expect(others).toHaveLength(3 * 16 - 1);
    // A cached verification of the original does not accept the variants.
    await tokens.verify(token, now);
    for (const spelling of [...others, token.replace('_', '/').replace('-', '+')])
      if (spelling !== token)
        await expect(tokens.verify(spelling, now)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('verifies to its claims until it expires', async () => {
    const token = await tokens.issue(claims, now);
    expect(await tokens.verify(token, now)).toEqual({ ...claims, expiresAt: now + accessTokenTtlMs });
    await expect(tokens.verify(token, now + accessTokenTtlMs - 1000)).resolves.toBeDefined();
    await expect(tokens.verify(token, now + accessTokenTtlMs + 6000)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });

  test('has the configured lifetime', async () => {
    const short = accessTokens(keysOf(key), { ...terms, ttlMs: 60_000 });
    const token = await short.issue(claims, now);
    expect(await tokens.verify(token, now)).toEqual({ ...claims, expiresAt: now + 60_000 });
    await expect(short.verify(token, now + 66_000)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('signed by this test is accepted, so the attacks below fail for the intended reason', async () => {
    await expect(tokens.verify(await signed(), now)).resolves.toMatchObject({ sub: claims.sub });
  });

  test('remains valid after rotation of its key until the old key is no longer accepted', async () => {
    const rotated = accessTokens(keysOf(key), terms);
    const before = await rotated.issue(claims, now);
    rotated.use(keysOf(other, key));
    const after = await rotated.issue(claims, now);
    expect(JSON.parse(Buffer.from(after.split('.')[0]!, 'base64url').toString()).kid).toBe(other.kid);
    for (const token of [before, after])
      await expect(rotated.verify(token, now)).resolves.toMatchObject({ sub: claims.sub });
    rotated.use(keysOf(other));
    await expect(rotated.verify(before, now)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(rotated.verify(after, now)).resolves.toMatchObject({ sub: claims.sub });
  });

  const attacks: Record<string, () => string | Promise<string>> = {
    'no signature, alg none': () => new UnsecuredJWT(payload).encode(),
    'no signature, alg none, with the kid of the service': () =>
      `${encode({ ...header, alg: 'none' })}.${encode(payload)}.`,
    'a truncated signature': async () => `${(await signed()).split('.').slice(0, 2).join('.')}.`,
    'HS256 with the public key as PEM': () => hs256(key.publicKey.export({ type: 'spki', format: 'pem' }) as string),
    'HS256 with the raw public key': () =>
      hs256(Buffer.from((key.publicKey.export({ format: 'jwk' }) as JsonWebKey).x as string, 'base64url')),
    'HS256 with the public JWK': () => hs256(JSON.stringify(key.publicKey.export({ format: 'jwk' }))),
    "another key under the service's kid": () => signed({}, {}, other.privateKey),
    'another key under its own kid': () => signed({}, { kid: other.kid }, other.privateKey),
    "the service's key under another kid": () => signed({}, { kid: other.kid }),
    'no kid': () => signed({}, { kid: undefined }),
    'a key in the header': () => signed({}, { jwk: other.publicKey.export({ format: 'jwk' }) }, other.privateKey),
    'a key behind a URL': () => signed({}, { jku: 'https://evil.example/jwks' }, other.privateKey),
    'an unknown critical header': () => `${encode({ ...header, crit: ['x'], x: 1 })}.${encode(payload)}.AAAA`,
    'another type of token': () => signed({}, { typ: 'JWT' }),
    'no type': () => signed({}, { typ: undefined }),
    'wrong issuer': () => signed({ iss: 'https://evil.example' }),
    'no issuer': () => signed({ iss: undefined }),
    'wrong audience': () => signed({ aud: 'other' }),
    'no audience': () => signed({ aud: undefined }),
    expired: () => signed({ exp: seconds - 60 }),
    'no expiry': () => signed({ exp: undefined }),
    'expiry that is not a number': () => signed({ exp: 'never' }),
    'not valid yet': () => signed({ nbf: seconds + 60 }),
    'no subject': () => signed({ sub: undefined }),
    'no session': () => signed({ jti: undefined }),
    'no roles': () => signed({ roles: undefined }),
    'roles that are a text': () => signed({ roles: 'admin' }),
    'a role that does not exist': () => signed({ roles: ['root'] }),
    'payload changed after signing': async () => {
      const [head, , signature] = (await signed()).split('.');
      return `${head}.${encode({ ...payload, roles: ['admin'] })}.${signature}`;
    },
    'ES256 key': async () => {
      const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return new SignJWT(payload).setProtectedHeader({ ...header, alg: 'ES256' }).sign(ec.privateKey);
    },
    empty: () => '',
    'not a JWT': () => 'a.b.c',
    'five parts': () => 'a.b.c.d.e',
  };

  test.for(Object.keys(attacks))('is rejected: %s', async (name) => {
    const token = await attacks[name]!();
    await expect(tokens.verify(token, now)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});
