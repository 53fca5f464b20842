import { expect, test } from 'vitest';
import { VerifiedTokens } from '../../src/identities/verified-tokens.ts';
import { limits } from '../../src/limits.ts';

const claims = (expiresAt: number) => ({ sub: 's', jti: 'j', roles: [], expiresAt });

test('a token is found until it expires and is then removed', () => {
  const verified = new VerifiedTokens();
  verified.add('a', claims(1000), verified.epoch);
  expect(verified.get('a', 999)).toEqual(claims(1000));
  expect(verified.get('b', 0)).toBeUndefined();
  expect(verified.get('a', 1000)).toBeUndefined();
  expect(verified.size).toBe(0);
});

test('a full cache evicts the token that was verified first', () => {
  const verified = new VerifiedTokens();
  for (let n = 0; n < limits.maxVerifiedTokens + 2; n++) verified.add(`t${n}`, claims(1000), verified.epoch);
  expect(verified.size).toBe(limits.maxVerifiedTokens);
  expect([0, 1, 2].map((n) => verified.get(`t${n}`, 0) !== undefined)).toEqual([false, false, true]);
});

test('verifications with replaced keys are not cached', () => {
  const verified = new VerifiedTokens();
  const { epoch } = verified;
  verified.add('before', claims(1000), epoch);
  verified.clear();
  verified.add('meanwhile', claims(1000), epoch);
  expect(verified.size).toBe(0);
});
