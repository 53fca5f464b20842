import { expect, test } from 'vitest';
import { barsOf, timesOf, zoomed } from '../../../src/console/ui/histogram-bars.ts';
import { TimeBuckets } from '../../../src/events/query/time-buckets.ts';

const hour = 3_600_000;
const bucket = (index: number, by_severity: Record<string, number>) => ({
  at: new Date(index * hour).toISOString(),
  count: Object.values(by_severity).reduce((sum, one) => sum + one, 0),
  by_severity,
});

test('the histogram has a series per severity present, and the end of the last bar', () => {
  const { times, series } = barsOf({
    buckets: [bucket(0, { low: 2 }), bucket(1, {}), bucket(2, { low: 1, critical: 4 })],
    bucket_ms: hour,
  });
  expect(times).toEqual([0, 3600, 7200, 10_800]);
  expect(series.map(({ title, values }) => [title, values])).toEqual([
    ['Low', [2, 0, 1, null]],
    ['Critical', [0, 0, 4, null]],
  ]);
});

test('the histogram draws a non-empty previous period bucket by bucket', () => {
  const now = { buckets: [bucket(8, { low: 2 }), bucket(9, { high: 1 })], bucket_ms: hour };
  expect(barsOf(now, { buckets: [bucket(6, {}), bucket(7, {})], bucket_ms: hour }).series).toHaveLength(2);
  const before = barsOf(now, { buckets: [bucket(6, { low: 5 }), bucket(7, {})], bucket_ms: hour }).series.at(-1);
  expect(before).toMatchObject({ previous: true, values: [5, 0, null] });
});

test('the histogram omits the previous period if its buckets have another width', () => {
  const now = { buckets: [bucket(8, { low: 2 })], bucket_ms: hour };
  const before = { buckets: [bucket(7, { low: 5 })], bucket_ms: hour / 2 };
  expect(barsOf(now, before).series.map(({ title }) => title)).toEqual(['Low']);
});

test('the histogram draws nothing for an empty histogram', () => {
  expect(barsOf({ buckets: [], bucket_ms: hour })).toEqual({ times: [], series: [] });
});

test('the histogram extends a dragged range to whole buckets', () => {
  const shown = { buckets: [bucket(1, {}), bucket(2, {})], bucket_ms: hour };
  expect(zoomed(1.2 * hour, 2.1 * hour, shown)).toEqual({
    from: new Date(hour).toISOString(),
    to: new Date(3 * hour).toISOString(),
  });
  expect(zoomed(hour, 2 * hour, shown)).toEqual({
    from: new Date(hour).toISOString(),
    to: new Date(2 * hour).toISOString(),
  });
});

test('the histogram aligns a range dragged over weekly buckets to Mondays, as the service does', () => {
  const week = 7 * 24 * hour;
  const span = { from: Date.UTC(2026, 6, 1), to: Date.UTC(2026, 10, 22) };
  const shown = new TimeBuckets(span, 25).histogram('alert');
  expect(shown.bucket_ms).toBe(week);
  const [, second, , fourth] = timesOf(shown).map((seconds) => seconds * 1000);
  const { from, to } = zoomed((second ?? 0) + 1, (fourth ?? 0) - 1, shown);
  expect([from, to].map((at) => new Date(at).getUTCDay())).toEqual([1, 1]);
  expect(Date.parse(to) - Date.parse(from)).toBe(2 * week);
});
