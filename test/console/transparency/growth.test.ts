import { describe, expect, it } from 'vitest';
import { growthOf } from '../../../src/console/pages/transparency/growth.ts';

const minute = 60_000;

describe('the growth of a log', () => {
  it('counts entries in the bucket of the head that first covers them', () => {
    const heads = [
      { size: 3, at: 10 * minute },
      { size: 3, at: 11 * minute },
      { size: 10, at: 12 * minute + 1 },
    ];
    const growth = growthOf(heads, { now: 15 * minute, fromStart: true, buckets: 6 })!;
    expect(growth.bucketMs).toBe(minute);
    expect(growth.entries).toEqual([3, 0, 7, 0, 0, 0]);
    expect(growth.times[0]).toBe(600);
  });

  it('leaves out entries before the first head, unless that head is the first head of the log', () => {
    const heads = [
      { size: 1000, at: 0 },
      { size: 1004, at: minute },
    ];
    const sum = (fromStart: boolean) => growthOf(heads, { now: minute, fromStart })!.entries.reduce((a, b) => a + b, 0);
    expect(sum(false)).toBe(4);
    expect(sum(true)).toBe(1004);
  });

  it('limits the number of buckets for any time span', () => {
    for (const span of [1, minute, 86_400_000, 400 * 86_400_000, 40 * 365 * 86_400_000]) {
      const growth = growthOf([{ size: 1, at: 1_000_000 }], { now: 1_000_000 + span, fromStart: true })!;
      expect(growth.entries.length).toBeLessThanOrEqual(62);
      expect(growth.entries.reduce((a, b) => a + b, 0)).toBe(1);
    }
  });

  it('is undefined without heads, and accepts a clock that is behind the heads', () => {
    expect(growthOf([], { now: 0, fromStart: true })).toBeUndefined();
    expect(growthOf([{ size: 5, at: 9000 }], { now: 0, fromStart: true })!.entries).toEqual([5]);
  });
});
