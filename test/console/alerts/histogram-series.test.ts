import { expect, test } from 'vitest';
import {
  barsOf,
  changeOf,
  periodBefore,
  zoomed,
} from '../../../src/console/pages/alerts/histogram-series.ts';

const hour = 3_600_000;
const bucket = (index: number, by_severity: Record<string, number>) => ({
  at: new Date(index * hour).toISOString(),
  count: Object.values(by_severity).reduce((sum, one) => sum + one, 0),
  by_severity,
});

test('the period before is as long, and ends where this begins', () => {
  expect(periodBefore('2026-11-20T10:00:00.000Z', '2026-11-20T12:00:00.000Z')).toEqual({
    from: '2026-11-20T08:00:00.000Z',
    to: '2026-11-20T10:00:00.000Z',
  });
  expect(periodBefore(undefined, '2026-11-20T12:00:00.000Z')).toBeUndefined();
});

test('a series for each severity that there is, and the end of the last bar', () => {
  const { times, series } = barsOf(
    { buckets: [bucket(0, { low: 2 }), bucket(1, {}), bucket(2, { low: 1, critical: 4 })], bucket_ms: hour },
    undefined,
  );
  expect(times).toEqual([0, 3600, 7200, 10_800]);
  expect(series.map(({ title, values }) => [title, values])).toEqual([
    ['Low', [2, 0, 1, null]],
    ['Critical', [0, 0, 4, null]],
  ]);
});

test('the period before is drawn where anything was, bucket beside bucket', () => {
  const now = { buckets: [bucket(8, { low: 2 }), bucket(9, { high: 1 })], bucket_ms: hour };
  expect(barsOf(now, { buckets: [bucket(6, {}), bucket(7, {})] }).series).toHaveLength(2);
  const before = barsOf(now, { buckets: [bucket(6, { low: 5 }), bucket(7, {})] }).series.at(-1);
  expect(before).toMatchObject({ previous: true, values: [5, 0, null] });
});

test('nothing stored is nothing drawn', () => {
  expect(barsOf({ buckets: [], bucket_ms: hour }, undefined)).toEqual({ times: [], series: [] });
});

test('what is dragged becomes whole buckets around it', () => {
  expect(zoomed(1.2 * hour, 2.1 * hour, hour)).toEqual({
    from: new Date(hour).toISOString(),
    to: new Date(3 * hour).toISOString(),
  });
});

test('a change against nothing is not told', () => {
  expect(changeOf(3, 2)).toBe(50);
  expect(changeOf(3, 0)).toBeUndefined();
  expect(changeOf(3, undefined)).toBeUndefined();
});
