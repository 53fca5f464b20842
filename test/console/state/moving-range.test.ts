import { expect, test } from 'vitest';
import { movedOn, refreshed } from '../../../src/console/state/moving-range.ts';

test('what is asked anew as time moves on is not asked again besides', () => {
  expect(refreshed({ name: '24h' }, 30_000)).toEqual({});
  expect(refreshed({ name: '15m' }, 30_000)).toEqual({});
  expect(refreshed({ name: 'all' }, 30_000)).toEqual({ refreshMs: 30_000 });
  expect(refreshed({ name: 'custom' }, 30_000)).toEqual({ refreshMs: 30_000 });
});

test('a question is another one once its time has moved on, whatever else it asks', () => {
  const [from, later] = ['2026-11-22T08:00:00.000Z', '2026-11-22T08:00:30.000Z'];
  expect(movedOn({ from, protocol: ['tcp'] } as { from: string }, { from })).toBe(false);
  expect(movedOn({ from }, { from: later })).toBe(true);
  expect(movedOn({ from, to: later }, { from })).toBe(true);
  expect(movedOn({}, {})).toBe(false);
});
