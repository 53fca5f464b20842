import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hashPassword, verifyPassword } from '../../src/identities/passwords.ts';
import { matchesSecret, newSecret, parseSecret, secretHash, writeSecret } from '../../src/identities/secrets.ts';
import { limits } from '../../src/limits.ts';

describe('secrets', () => {
  test('are parsed from their text form', () => {
    for (const kind of ['long_lived', 'session'] as const) {
      const presented = { jti: randomUUID(), secret: newSecret() };
      expect(parseSecret(kind, writeSecret(kind, presented))).toEqual(presented);
    }
  });

  test('are not accepted as secrets of another kind', () => {
    const text = writeSecret('session', { jti: randomUUID(), secret: newSecret() });
    expect(parseSecret('long_lived', text)).toBeUndefined();
  });

  test.for(['', 'candor_', 'candor__', `candor_${randomUUID()}`, `candor_${randomUUID()}_short`])(
    'are not parsed from %j',
    (text) => expect(parseSecret('long_lived', text)).toBeUndefined(),
  );

  test('match only their own hash', () => {
    const secret = newSecret();
    expect(matchesSecret(secret, secretHash(secret))).toBe(true);
    expect(matchesSecret(newSecret(), secretHash(secret))).toBe(false);
    expect(matchesSecret(secret, '')).toBe(false);
  });
});

describe('passwords', () => {
  test('are stored as argon2id with the parameters of OWASP', async () => {
    expect(await hashPassword('correct horse')).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  test('match in any Unicode spelling, and no other password matches', async () => {
    const hash = await hashPassword('caf\u00e9');
    expect(await verifyPassword(hash, 'cafe\u0301')).toBe(true);
    expect(await verifyPassword(hash, 'cafe')).toBe(false);
  });

  test('never match without a hash', async () => {
    expect(await verifyPassword(undefined, '')).toBe(false);
  });

  test('are not checked beyond the limit of concurrent checks, and not queued', async () => {
    const hash = await hashPassword('x');
    const checks = Array.from({ length: limits.maxPasswordChecksInFlight + 1 }, () => verifyPassword(hash, 'x'));
    const results = await Promise.allSettled(checks);
    expect(results.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'OVERLOADED' } });
    expect(results.slice(0, -1).every(({ status }) => status === 'fulfilled')).toBe(true);
  });
});
