import { expect, test } from 'vitest';
import { changeOf, periodBefore } from '../../../src/console/pages/alerts/histogram-series.ts';

test('the previous period has the same length and ends where the range starts', () => {
  expect(periodBefore('2026-11-20T10:00:00.000Z', '2026-11-20T12:00:00.000Z')).toEqual({
    from: '2026-11-20T08:00:00.000Z',
    to: '2026-11-20T10:00:00.000Z',
  });
  expect(periodBefore(undefined, '2026-11-20T12:00:00.000Z')).toBeUndefined();
});

test('the change since the previous period is in per cent, and undefined if that period has no alerts', () => {
  expect(changeOf(3, 2)).toBe(50);
  expect(changeOf(3, 0)).toBeUndefined();
  expect(changeOf(3, undefined)).toBeUndefined();
});
