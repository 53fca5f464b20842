import { describe, expect, test } from 'vitest';
import { all, neighbour, noMarks, through, toggled } from '../../../src/console/ui/marking.ts';

const order = ['a', 'b', 'c', 'd', 'e'];
const ids = ({ ids: marked }: { ids: ReadonlySet<string> }) => [...marked].sort().join('');

describe('selecting', () => {
  test('toggles one row', () => {
    const one = toggled(noMarks, 'b');
    expect(ids(one)).toBe('b');
    expect(ids(toggled(one, 'b'))).toBe('');
  });

  test('adds the range from the anchor to this row, in either direction', () => {
    const some = toggled(toggled(noMarks, 'a'), 'c');
    expect(ids(through(some, 'e', order))).toBe('acde');
    expect(ids(through(toggled(noMarks, 'd'), 'b', order))).toBe('bcd');
    expect(ids(through(noMarks, 'b', order))).toBe('b');
  });

  test('adds only this row if the anchor is no longer listed', () => {
    expect(ids(through(toggled(noMarks, 'gone'), 'b', order))).toBe('bgone');
  });

  test('selects all rows', () => {
    expect(ids(all(order))).toBe('abcde');
  });
});

describe('the neighbour', () => {
  const isLeft = (id: string) => id !== 'c';

  test('is the next remaining row, else the previous row', () => {
    expect(neighbour('b', order, isLeft)).toBe('d');
    expect(neighbour('e', order, isLeft)).toBe('d');
    expect(neighbour('a', ['a'], isLeft)).toBeUndefined();
  });

  test('is the first remaining row for a row that is not listed', () => {
    expect(neighbour('gone', order, isLeft)).toBe('a');
  });
});
