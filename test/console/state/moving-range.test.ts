import { expect, test } from 'vitest';
import { differsInTimeOnly, movedOn, refreshed } from '../../../src/console/state/moving-range.ts';

test('custom ranges and all time have a refetch interval, relative ranges have none', () => {
  expect(refreshed({ name: '24h' }, 30_000)).toEqual({});
  expect(refreshed({ name: '15m' }, 30_000)).toEqual({});
  expect(refreshed({ name: 'all' }, 30_000)).toEqual({ refreshMs: 30_000 });
  expect(refreshed({ name: 'custom' }, 30_000)).toEqual({ refreshMs: 30_000 });
});

test('a request changes when its range has moved on', () => {
  const [from, later] = ['2026-11-22T08:00:00.000Z', '2026-11-22T08:00:30.000Z'];
  expect(movedOn({ from, protocol: ['tcp'] } as { from: string }, { from })).toBe(false);
  expect(movedOn({ from }, { from: later })).toBe(true);
  expect(movedOn({ from, to: later }, { from })).toBe(true);
  expect(movedOn({}, {})).toBe(false);
});

test('requests that differ only in time are recognised', () => {
  const asked = { query: { severity: ['high'], from: 'a', per_page: 1 } };
  expect(differsInTimeOnly(asked, { query: { severity: ['high'], from: 'b', per_page: 1 } })).toBe(true);
  expect(differsInTimeOnly(asked, { query: { severity: ['high'], per_page: 1, to: 'c' } })).toBe(true);
  expect(differsInTimeOnly(asked, { query: { severity: ['low'], from: 'a', per_page: 1 } })).toBe(false);
  expect(differsInTimeOnly({ params: { id: '1' } }, { params: { id: '2' } })).toBe(false);
  expect(differsInTimeOnly({}, { query: { from: 'a' } })).toBe(true);
});
