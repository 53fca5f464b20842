import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytes } from '../../../src/console/ui/numbers.ts';
import { roundUp, stacked } from '../../../src/console/ui/scale.ts';

test.each([
  [0, 1],
  [0.3, 1],
  [1, 1],
  [7, 8],
  [47, 50],
  [999, 1000],
  [1000, 1000],
  [1001, 2000],
  [24_000, 30_000],
])('the scale for %d ends at %d', (value, top) => {
  expect(roundUp(value)).toBe(top);
});

test.each([
  [700, '800 B'],
  [1013, '1 KiB'],
  [1024 ** 2, '1 MiB'],
  [555 * 1024 ** 2, '600 MiB'],
  [9 * 1024 ** 5, '10 PiB'],
])('the scale for %d bytes ends at %s', (value, top) => {
  expect(bytes(roundUp(value, 1024))).toBe(top);
});

test('the top of the scale is never below the value, and not much more than twice the value', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 2 ** 70, noNaN: true }), fc.constantFrom(1000, 1024), (value, base) => {
      const top = roundUp(value, base as 1000 | 1024);
      expect(top).toBeGreaterThanOrEqual(value);
      expect(top).toBeLessThanOrEqual(2.1 * value);
    }),
  );
});

test.each([
  [1013, '1,013 B'],
  [1024, '1 KiB'],
  [1536, '1.5 KiB'],
  [1_047_000, '1,022 KiB'],
])('%d bytes are formatted as %s', (value, text) => {
  expect(bytes(value)).toBe(text);
});

const of = (...values: (number | null)[]) => ({ values });

test('the chart draws bars in proportion to their values', () => {
  expect(stacked([of(993, null), of(7, null)], 0)).toEqual([
    [1000, 0],
    [7, 0],
  ]);
});

test('the chart draws values above zero at least one pixel high, without covering others', () => {
  expect(stacked([of(993, 0), of(0, 0), of(7, 0)], 20)).toEqual([
    [1013, 0],
    [20, 0],
    [20, 0],
  ]);
});

test('the chart does not stack the previous period', () => {
  expect(stacked([of(1), { values: [50], previous: true }, of(2)], 0)).toEqual([[3], [50], [2]]);
});
