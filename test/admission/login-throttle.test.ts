import { expect, test } from 'vitest';
import { LoginThrottle } from '../../src/admission/login-throttle.ts';
import { limits } from '../../src/limits.ts';

const now = Date.UTC(2026, 10, 20);
const rateLimited = expect.objectContaining({ code: 'RATE_LIMITED' });

const most = limits.maxLoginFailuresPerMinute;
const begin = (throttle: LoginThrottle, subjects: string[], at = now) =>
  throttle.begin(
    subjects.map((subject) => ({ subject, most })),
    at,
  );

function fail(throttle: LoginThrottle, subjects: string[], times: number): void {
  for (let i = 0; i < times; i++) begin(throttle, subjects);
}

test('at the limit of failures, further attempts are rejected until the minute is over', () => {
  const throttle = new LoginThrottle();
  fail(throttle, ['name a'], most);
  expect(() => begin(throttle, ['name a'], now + 59_000)).toThrow(
    expect.objectContaining({ code: 'RATE_LIMITED', details: { retry_after_s: 1 } }),
  );
  expect(() => begin(throttle, ['name a'], now + 60_000)).not.toThrow();
});

test.each([365 * 86_400_000, -365 * 86_400_000])(
  'a clock jump of %d ms ends a lockout, and the limit still applies afterwards',
  (leap) => {
    const throttle = new LoginThrottle();
    fail(throttle, ['name a'], most);
    for (const at of [now + leap, now + leap + 60_000, now + 60_000]) {
      for (let i = 0; i < most; i++) begin(throttle, ['name a'], at);
      expect(() => begin(throttle, ['name a'], at)).toThrow(rateLimited);
    }
  },
);

test('each throttled subject alone is sufficient to reject an attempt, and other subjects are not affected', () => {
  const throttle = new LoginThrottle();
  fail(throttle, ['name a', 'address 1'], most);
  expect(() => begin(throttle, ['name b', 'address 1'])).toThrow(rateLimited);
  expect(() => begin(throttle, ['name a', 'address 2'])).toThrow(rateLimited);
  expect(() => begin(throttle, ['name b', 'address 2'])).not.toThrow();
});

test('an attempt in progress counts towards the limit, and no longer counts once it succeeds', () => {
  const throttle = new LoginThrottle();
  const takeBack = begin(throttle, ['name a']);
  fail(throttle, ['name a'], most - 1);
  expect(() => begin(throttle, ['name a'])).toThrow(rateLimited);
  takeBack();
  expect(() => begin(throttle, ['name a'])).not.toThrow();
});

test('a throttled name stays throttled during a flood of other names', () => {
  const throttle = new LoginThrottle();
  fail(throttle, ['name a'], most);
  for (let i = 0; i < 20_000; i++)
    try {
      begin(throttle, [`name ${i}`]);
    } catch {
      // This name shares the slot of the throttled name.
    }
  expect(() => begin(throttle, ['name a'])).toThrow(rateLimited);
});

const wrong = async () => false;
const right = async () => true;

test('an attacker who keeps failing is stopped and does not lock out the owner', async () => {
  const throttle = new LoginThrottle();
  for (let i = 0; i < most; i++) expect(await throttle.check('admin', '203.0.113.9', now, wrong)).toBe(false);
  await expect(throttle.check('admin', '203.0.113.9', now, right)).rejects.toEqual(rateLimited);
  expect(await throttle.check('admin', '192.0.2.1', now, right)).toBe(true);
});

test('the account limit stops many attackers, but not sign-ins from known addresses', async () => {
  const throttle = new LoginThrottle();
  expect(await throttle.check('admin', '192.0.2.1', now, right)).toBe(true);
  for (let i = 0; i < limits.maxAccountLoginFailuresPerMinute; i++)
    expect(await throttle.check('admin', `198.51.100.${i}`, now, wrong)).toBe(false);
  await expect(throttle.check('admin', '203.0.113.9', now, right)).rejects.toEqual(rateLimited);
  expect(await throttle.check('admin', '192.0.2.1', now, right)).toBe(true);
  expect(await throttle.check('other', '203.0.113.9', now, right)).toBe(true);
});

test('an attacker at a shared address does not lock out accounts that signed in from that address before', async () => {
  const throttle = new LoginThrottle();
  expect(await throttle.check('admin', '192.0.2.1', now, right)).toBe(true);
  for (let i = 0; i < most; i++) expect(await throttle.check(`made up ${i}`, '192.0.2.1', now, wrong)).toBe(false);
  await expect(throttle.check('newcomer', '192.0.2.1', now, right)).rejects.toEqual(rateLimited);
  expect(await throttle.check('admin', '192.0.2.1', now, right)).toBe(true);
});

test('guessing is not faster from a known address, and other accounts at that address are not affected', async () => {
  const throttle = new LoginThrottle();
  expect(await throttle.check('admin', '192.0.2.1', now, right)).toBe(true);
  for (let i = 0; i < most; i++) expect(await throttle.check('admin', '192.0.2.1', now, wrong)).toBe(false);
  await expect(throttle.check('admin', '192.0.2.1', now, right)).rejects.toEqual(rateLimited);
  expect(await throttle.check('other', '192.0.2.1', now, right)).toBe(true);
  expect(await throttle.check('admin', '192.0.2.1', now + 60_000, right)).toBe(true);
});

test('the limit per address can be changed or disabled, because all clients behind a proxy share one address', async () => {
  const strict = new LoginThrottle(1);
  expect(await strict.check('a', '192.0.2.1', now, wrong)).toBe(false);
  await expect(strict.check('b', '192.0.2.1', now, right)).rejects.toEqual(rateLimited);
  const behindProxy = new LoginThrottle(0);
  for (let i = 0; i < limits.maxAccountLoginFailuresPerMinute; i++)
    expect(await behindProxy.check('a', '192.0.2.1', now, wrong)).toBe(false);
  await expect(behindProxy.check('a', '192.0.2.1', now, right)).rejects.toEqual(rateLimited);
  expect(await behindProxy.check('b', '192.0.2.1', now, right)).toBe(true);
});
