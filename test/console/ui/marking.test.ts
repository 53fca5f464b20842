import { describe, expect, test } from 'vitest';
import { all, neighbour, noMarks, through, toggled } from '../../../src/console/ui/marking.ts';

const order = ['a', 'b', 'c', 'd', 'e'];
const ids = ({ ids: marked }: { ids: ReadonlySet<string> }) => [...marked].sort().join('');

describe('selecting', () => {
  test('one, and no longer', () => {
    const one = toggled(noMarks, 'b');
    expect(ids(one)).toBe('b');
    expect(ids(toggled(one, 'b'))).toBe('');
  });

  test('from the one before to this, either way round, and what was selected stays', () => {
    const some = toggled(toggled(noMarks, 'a'), 'c');
    expect(ids(through(some, 'e', order))).toBe('acde');
    expect(ids(through(toggled(noMarks, 'd'), 'b', order))).toBe('bcd');
    expect(ids(through(noMarks, 'b', order))).toBe('b');
  });

  test('from one that is no longer listed is this alone', () => {
    expect(ids(through(toggled(noMarks, 'gone'), 'b', order))).toBe('bgone');
  });

  test('all', () => {
    expect(ids(all(order))).toBe('abcde');
  });
});

describe('the next one', () => {
  const isLeft = (id: string) => id !== 'c';

  test('is the first after it that is left, else the last before it', () => {
    expect(neighbour('b', order, isLeft)).toBe('d');
    expect(neighbour('e', order, isLeft)).toBe('d');
    expect(neighbour('a', ['a'], isLeft)).toBeUndefined();
  });

  test('of one that is not listed is the first', () => {
    expect(neighbour('gone', order, isLeft)).toBe('a');
  });
});
