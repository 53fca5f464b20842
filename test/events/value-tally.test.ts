import { expect, it } from 'vitest';
import { ValueTally } from '../../src/events/value-tally.ts';

it('shows the most frequent, and counts what it does not show', () => {
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

it('when it is full, counts those that it knows to the end and others together, and says so', () => {
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
  // A long value takes the room of many.
  const long = new ValueTally(1000);
  long.add('x'.repeat(1000), 1);
  long.add('a', 1);
  expect(long.top(5)).toMatchObject({ distinct: 1, other: 1, complete: false });
});
