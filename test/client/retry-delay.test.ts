import { describe, expect, it } from 'vitest';
import { retryDelayMs } from '../../src/client/retry-delay.ts';
import { closeCodes } from '../../src/contract/channels.ts';
import { ServiceError } from '../../src/errors.ts';

const almostOne = 1 - Number.EPSILON;
const lost = { code: 1006, error: undefined };

describe('the delay before the next connection', () => {
  it('is random up to a bound that doubles, to a maximum', () => {
    const bounds = Array.from({ length: 12 }, (_, failures) => retryDelayMs(lost, failures, almostOne));
    expect(bounds.map(Math.round).slice(0, 7)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000]);
    expect(Math.max(...bounds)).toBeLessThanOrEqual(30_000);
    expect(retryDelayMs(lost, 2000, almostOne)).toBeLessThanOrEqual(30_000);
    for (const failures of [0, 5, 50]) {
      expect(retryDelayMs(lost, failures, 0)).toBe(0);
      expect(retryDelayMs(lost, failures, 0.5)).toBeCloseTo(retryDelayMs(lost, failures, almostOne) / 2);
    }
  });

  it('is short after a shutdown of the service, and grows if the service does not return', () => {
    const gone = { code: closeCodes.goingAway, error: undefined };
    expect(retryDelayMs(gone, 0, almostOne)).toBeLessThanOrEqual(1000);
    expect(retryDelayMs(gone, 10, almostOne)).toBeCloseTo(30_000);
  });

  it.each([
    ['too many requests', closeCodes.tooMany, undefined],
    ['a rejected token', closeCodes.unauthenticated, undefined],
    ['a role without permission', closeCodes.forbidden, undefined],
    ['an invalid message', closeCodes.badMessage, undefined],
    ['a signed-out user', undefined, new ServiceError('UNAUTHENTICATED', 'signed out')],
    ['too many sign-in attempts', undefined, new ServiceError('RATE_LIMITED', 'slow down')],
  ])('starts long for %s', (_, code, error) => {
    expect(retryDelayMs({ code, error }, 0, 0)).toBe(10_000);
    expect(retryDelayMs({ code, error }, 0, almostOne)).toBeCloseTo(60_000);
  });

  it('is not longer if there was no token because of a network failure', () => {
    const error = new ServiceError('UNAVAILABLE', 'could not be reached');
    expect(retryDelayMs({ code: undefined, error }, 0, almostOne)).toBeCloseTo(500);
  });
});
