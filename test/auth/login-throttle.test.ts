import { expect, test } from 'vitest';
import { LoginThrottle } from '../../src/auth/login-throttle.ts';
import { limits } from '../../src/limits.ts';

const now = Date.UTC(2026, 10, 20);
const rateLimited = expect.objectContaining({ code: 'RATE_LIMITED' });

function fail(throttle: LoginThrottle, subjects: string[], times: number, at = now): void {
  for (let i = 0; i < times; i++) throttle.begin(subjects, at);
}

test('the limit of failures refuses the next attempt until the minute is over', () => {
  const throttle = new LoginThrottle();
  fail(throttle, ['name a'], limits.maxLoginFailuresPerMinute);
  expect(() => throttle.begin(['name a'], now + 59_000)).toThrow(
    expect.objectContaining({ code: 'RATE_LIMITED', details: { retry_after_s: 1 } }),
  );
  expect(() => throttle.begin(['name a'], now + 60_000)).not.toThrow();
});

test('either subject suffices, and others are not concerned', () => {
  const throttle = new LoginThrottle();
  fail(throttle, ['name a', 'address 1'], limits.maxLoginFailuresPerMinute);
  expect(() => throttle.begin(['name b', 'address 1'], now)).toThrow(rateLimited);
  expect(() => throttle.begin(['name a', 'address 2'], now)).toThrow(rateLimited);
  expect(() => throttle.begin(['name b', 'address 2'], now)).not.toThrow();
});

test('attempts at once count before any has failed; a success takes its own back', () => {
  const throttle = new LoginThrottle();
  const takeBack = throttle.begin(['name a'], now);
  fail(throttle, ['name a'], limits.maxLoginFailuresPerMinute - 1);
  expect(() => throttle.begin(['name a'], now)).toThrow(rateLimited);
  takeBack();
  expect(() => throttle.begin(['name a'], now)).not.toThrow();
});

test('a flood of names is forgotten without memory, and the throttled name stays throttled', () => {
  const throttle = new LoginThrottle();
  fail(throttle, ['name a'], limits.maxLoginFailuresPerMinute);
  for (let i = 0; i < 20_000; i++)
    try {
      throttle.begin([`name ${i}`], now);
    } catch {
      // shares the slot of the throttled one
    }
  expect(() => throttle.begin(['name a'], now)).toThrow(rateLimited);
});
