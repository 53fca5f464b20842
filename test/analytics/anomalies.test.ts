import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anomalies } from '../../src/analytics/anomalies.ts';
import { levels } from '../../src/rollups/model/levels.ts';

const places = (values: readonly number[], unit: (typeof levels)[number], known = 0, shown = 0) =>
  anomalies(Float64Array.from(values), unit, known, shown).map(({ place }) => place);

describe('anomalous buckets', () => {
  test('deviate from the same hour of the previous days and, with enough history, of the previous weeks', () => {
    const office = (hour: number) => (hour % 24 >= 8 && hour % 24 < 18 ? 1000 + (hour % 7) : 20);
    const days = Array.from({ length: 24 * 14 }, (_, hour) => office(hour));
    expect(places(days, 'hour', 0, 24 * 8)).toEqual([]);
    days[24 * 13 + 3] = 1000;
    days[24 * 13 + 12] = 20;
    expect(places(days, 'hour', 0, 24 * 8)).toEqual([24 * 13 + 3, 24 * 13 + 12]);
    const free = (hour: number) => Math.floor(hour / 24) % 7 >= 5;
    const weeks = Array.from({ length: 24 * 56 }, (_, hour) => (free(hour) ? 20 : office(hour)));
    expect(places(weeks, 'hour', 0, 24 * 42)).toEqual([]);
  });

  test('are not reported without enough history', () => {
    expect(places([0, 0, 0, 5000, 0], 'minute')).toEqual([]);
    expect(places([...Array(20).fill(0), 5000, 0], 'minute')).toEqual([20]);
    expect(places([...Array(20).fill(0), 5000, 0], 'minute', 10)).toEqual([]);
  });

  test('are not caused by random variation (the square root of a count)', () => {
    expect(places([...Array(30).fill(100), 130, 75, 100], 'minute')).toEqual([]);
    expect(places([...Array(30).fill(100), 140, 60, 100], 'minute')).toEqual([30, 31]);
  });

  test('include the current bucket only if its count is too high', () => {
    expect(places([...Array(30).fill(1000), 10], 'minute')).toEqual([]);
    expect(places([...Array(30).fill(1000), 5000], 'minute')).toEqual([30]);
  });

  test('have finite scores, for any values', () => {
    const value = fc.oneof(fc.constant(0), fc.nat(10), fc.nat(), fc.double({ min: 0, max: 1e300, noNaN: true }));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 400 }), fc.constantFrom(...levels), (values, unit) => {
        for (const { score, expected } of anomalies(Float64Array.from(values), unit, 0, 0)) {
          expect(Number.isFinite(score)).toBe(true);
          expect(Number.isFinite(expected)).toBe(true);
          expect(Math.abs(score)).toBeGreaterThanOrEqual(3.5);
        }
      }),
    );
  });
});
