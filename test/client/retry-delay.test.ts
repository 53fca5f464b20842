import { describe, expect, it } from 'vitest';
import { retryDelayMs } from '../../src/client/retry-delay.ts';
import { closeCodes } from '../../src/contract/channels.ts';
import { ServiceError } from '../../src/errors.ts';

const almostOne = 1 - Number.EPSILON;
const lost = { code: 1006, error: undefined };

describe('the wait before the next connection', () => {
  it('is anything up to a bound that doubles, and does not grow for ever', () => {
    const bounds = Array.from({ length: 12 }, (_, failures) => retryDelayMs(lost, failures, almostOne));
    expect(bounds.map(Math.round).slice(0, 7)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000]);
    expect(Math.max(...bounds)).toBeLessThanOrEqual(30_000);
    expect(retryDelayMs(lost, 2000, almostOne)).toBeLessThanOrEqual(30_000);
    for (const failures of [0, 5, 50]) {
      expect(retryDelayMs(lost, failures, 0)).toBe(0);
      expect(retryDelayMs(lost, failures, 0.5)).toBeCloseTo(retryDelayMs(lost, failures, almostOne) / 2);
    }
  });

  it('is short for a service that goes away, as long as it comes back', () => {
    const gone = { code: closeCodes.goingAway, error: undefined };
    expect(retryDelayMs(gone, 0, almostOne)).toBeLessThanOrEqual(1000);
    expect(retryDelayMs(gone, 10, almostOne)).toBeCloseTo(30_000);
  });

  it.each([
    ['too many', closeCodes.tooMany, undefined],
    ['a token that is refused', closeCodes.unauthenticated, undefined],
    ['a role that may not', closeCodes.forbidden, undefined],
    ['a message that is wrong', closeCodes.badMessage, undefined],
    ['nobody who is signed in', undefined, new ServiceError('UNAUTHENTICATED', 'signed out')],
    ['too many attempts to sign in', undefined, new ServiceError('RATE_LIMITED', 'slow down')],
  ])('is long at once for %s', (_, code, error) => {
    expect(retryDelayMs({ code, error }, 0, 0)).toBe(10_000);
    expect(retryDelayMs({ code, error }, 0, almostOne)).toBeCloseTo(60_000);
  });

  it('is the usual one where there was no token because nothing could be reached', () => {
    const error = new ServiceError('UNAVAILABLE', 'could not be reached');
    expect(retryDelayMs({ code: undefined, error }, 0, almostOne)).toBeCloseTo(500);
  });
});
