import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTail } from '../../../src/console/pages/events/tail.ts';

const rows = (...ids: number[]) => ids.map((id) => ({ id: String(id) }));

test('received rows wait until they are shown on top, newest first', () => {
  const tail = createTail<{ id: string }>(10);
  tail.begin(rows(2, 1));
  for (const row of rows(3, 4)) tail.take(row, 0);
  expect(tail.rows).toEqual(rows(2, 1));
  expect(tail.waiting).toBe(2);
  expect(tail.show()).toBe(true);
  expect(tail.rows).toEqual(rows(4, 3, 2, 1));
  expect(tail.waiting).toBe(0);
  expect(tail.show()).toBe(false);
});

test('a list adds only rows that were not received live', () => {
  const tail = createTail<{ id: string }>(10);
  for (const row of rows(3, 4)) tail.take(row, 0);
  tail.show();
  tail.take({ id: '5' }, 0);
  tail.begin(rows(5, 4, 3, 2, 1));
  tail.show();
  expect(tail.rows).toEqual(rows(5, 4, 3, 2, 1));
});

test('a row that is listed before it is received live is shown once, at its place in the stream', () => {
  const tail = createTail<{ id: string }>(10);
  tail.take({ id: '3' }, 0);
  tail.show();
  tail.begin(rows(4, 3, 2, 1));
  tail.take({ id: '4' }, 0);
  tail.show();
  expect(tail.rows).toEqual(rows(4, 3, 2, 1));
});

test('rows that remain in the tail are the same objects', () => {
  const tail = createTail<{ id: string }>(10);
  const [first, second] = rows(1, 2);
  tail.take(first!, 0);
  tail.show();
  tail.take(second!, 0);
  tail.show();
  expect(tail.rows[1]).toBe(first);
});

test('the live list keeps only the newest rows, and counts all received rows', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.option(fc.constant('take'), { nil: 'show' }), { maxLength: 60 }),
      (size, steps) => {
        const tail = createTail<{ id: string }>(size);
        let last = 0;
        let shown = 0;
        for (const step of steps) {
          if (step === 'take') tail.take({ id: String(++last) }, 0);
          else {
            tail.show();
            shown = last;
          }
          expect(tail.waiting).toBe(last - shown);
          const newest = Array.from({ length: Math.min(size, shown) }, (_, i) => ({ id: String(shown - i) }));
          expect(tail.rows).toEqual(newest);
        }
      },
    ),
  );
});

test('the rate is an average over complete seconds', () => {
  const tail = createTail<{ id: string }>(10);
  expect(tail.rate(0)).toBe(0);
  for (let ms = 0; ms < 3000; ms += 10) tail.take({ id: `a${ms}` }, ms);
  expect(tail.rate(3000)).toBe(100);
  expect(tail.rate(7999)).toBe(20);
  expect(tail.rate(60_000)).toBe(0);
});
