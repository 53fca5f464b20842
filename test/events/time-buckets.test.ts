import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { severities } from '../../src/contract/vocabulary.ts';
import { maxTime } from '../../src/events/format/columns.ts';
import { bucketWidths, spanOf, TimeBuckets } from '../../src/events/query/time-buckets.ts';

const at = (text: string) => Date.parse(text);
const day = 86_400_000;

describe('buckets of time', () => {
  it.each([
    ['2026-11-22T10:00:00Z', '2026-11-22T10:01:00Z', 60, 1000, '2026-11-22T10:00:00.000Z', 60],
    ['2026-11-22T10:00:00Z', '2026-11-22T11:00:00Z', 60, 60_000, '2026-11-22T10:00:00.000Z', 60],
    // Minutes would need another bucket, because the range starts within a minute.
    ['2026-11-22T10:00:30Z', '2026-11-22T11:00:30Z', 60, 120_000, '2026-11-22T10:00:00.000Z', 31],
    ['2026-11-21T10:12:00Z', '2026-11-22T10:12:00Z', 60, 1_800_000, '2026-11-21T10:00:00.000Z', 49],
    ['2026-11-01T10:12:00Z', '2026-11-22T10:12:00Z', 30, day, '2026-11-01T00:00:00.000Z', 22],
    // A Sunday and the following Monday.
    ['2026-11-22T10:12:00Z', '2026-11-30T00:00:00Z', 2, 7 * day, '2026-11-16T00:00:00.000Z', 2],
    ['2026-11-22T10:12:00.001Z', '2026-11-22T10:12:00.002Z', 500, 1000, '2026-11-22T10:12:00.000Z', 1],
    ['2026-11-22T10:12:00Z', '2026-11-22T10:12:00Z', 5, 1000, undefined, 0],
  ])('split %s to %s, at most %d: %d ms each', (from, to, most, widthMs, first, length) => {
    const { bucket_ms, buckets } = new TimeBuckets({ from: at(from), to: at(to) }, most).histogram('alert');
    expect([bucket_ms, buckets[0]?.at, buckets.length]).toEqual([widthMs, first, length]);
  });

  const time = fc.oneof(
    fc.integer({ min: 0, max: maxTime }),
    fc.integer({ min: 1_700_000_000_000, max: 1_700_100_000_000 }),
    fc.constantFrom(0, maxTime, -8.64e15, 8.64e15, 4 * day, 4 * day - 1),
  );

  it('assign each time of the range to the bucket that contains it, with the smallest possible width', () => {
    const cases = fc.tuple(time, time, fc.integer({ min: 1, max: 500 }), fc.array(time));
    fc.assert(
      fc.property(cases, ([one, two, most, times]) => {
        const asked = { from: Math.min(one, two), to: Math.max(one, two) };
        const buckets = new TimeBuckets(asked, most);
        const inside = times.filter((each) => each >= buckets.from && each < buckets.to);
        for (const each of inside) buckets.add(buckets.at(each), each % severities.length);
        const made = buckets.histogram('alert');
        expect(made.buckets.length).toBeLessThanOrEqual(most);
        expect(bucketWidths).toContain(made.bucket_ms);
        expect(made.total).toBe(inside.length);
        for (const [i, bucket] of made.buckets.entries()) {
          const start = Date.parse(bucket.at);
          expect(start).toBe(Date.parse(made.buckets[0]!.at) + i * made.bucket_ms);
          const here = inside.filter((each) => each >= start && each < start + made.bucket_ms);
          expect(bucket.count).toBe(here.length);
          const ofEach = Object.values(bucket.by_severity);
          expect(ofEach.reduce((sum, count) => sum + count, 0)).toBe(here.length);
          expect(ofEach).not.toContain(0);
        }
        const narrower = bucketWidths[bucketWidths.indexOf(made.bucket_ms) - 1];
        if (made.buckets.length > 0 && narrower !== undefined)
          expect((buckets.to - buckets.from) / narrower).toBeGreaterThan(most - 2);
      }),
    );
  });

  it('return the common bucket of two times of the range; undefined if the times lie in different buckets', () => {
    const buckets = new TimeBuckets({ from: 500, to: 4000 }, 10);
    expect([buckets.only(500, 999), buckets.only(1000, 1999), buckets.only(3000, 3999)]).toEqual([0, 1, 3]);
    for (const [least, most] of [
      [499, 999],
      [999, 1000],
      [3000, 4000],
      [Number.NaN, Number.NaN],
    ] as const)
      expect(buckets.only(least, most)).toBeUndefined();
  });
});

it('the range is as requested, else the range of the stored data, else empty', () => {
  const stored = { first: 10, last: 20 };
  expect(spanOf({}, stored, 99)).toEqual({ from: 10, to: 21 });
  expect(spanOf({ from: 5 }, stored, 99)).toEqual({ from: 5, to: 21 });
  expect(spanOf({ to: 15 }, stored, 99)).toEqual({ from: 10, to: 15 });
  expect(spanOf({ from: 5, to: 7 }, stored, 99)).toEqual({ from: 5, to: 7 });
  expect(spanOf({ from: 5 }, undefined, 99)).toEqual({ from: 5, to: 5 });
  expect(spanOf({ to: 5 }, undefined, 99)).toEqual({ from: 5, to: 5 });
  expect(spanOf({}, undefined, 99)).toEqual({ from: 99, to: 99 });
});
