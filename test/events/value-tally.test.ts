import { expect, it } from 'vitest';
import { ValueTally } from '../../src/events/query/value-tally.ts';

it('a value tally returns the most frequent values, and counts the other values', () => {
  const tally = new ValueTally();
  for (const [value, count] of [
    ['a', 2],
    ['c', 5],
    ['b', 2],
    ['a', 1],
    ['', 1],
  ] as const)
    tally.add(value, count);
  expect(tally.top(2)).toEqual({
    values: [
      { value: 'c', count: 5 },
      { value: 'a', count: 3 },
    ],
    distinct: 4,
    other: 3,
    complete: true,
  });
  expect(tally.top(9).values.map(({ value }) => value)).toEqual(['c', 'a', 'b', '']);
  expect(tally.top(9).other).toBe(0);
});

it('a full value tally keeps counting known values, counts other values together, and reports the overflow', () => {
  const tally = new ValueTally(250);
  for (const [value, count] of [
    ['a', 1],
    ['b', 1],
    ['c', 7],
    ['a', 3],
    ['c', 1],
  ] as const)
    tally.add(value, count);
  expect(tally.top(5)).toEqual({
    values: [
      { value: 'a', count: 4 },
      { value: 'b', count: 1 },
    ],
    distinct: 2,
    other: 8,
    complete: false,
  });
  // A long value takes as much memory as many short values.
  const long = new ValueTally(1000);
  long.add('x'.repeat(1000), 1);
  long.add('a', 1);
  expect(long.top(5)).toMatchObject({ distinct: 1, other: 1, complete: false });
});
