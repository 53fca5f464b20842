import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Busiest } from '../../src/topology/model/busiest.ts';

it('the busiest items equal the first items of a sorted list', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer()), fc.nat({ max: 20 }), (numbers, max) => {
      const descending = (a: number, b: number) => b - a;
      const busiest = new Busiest(max, descending);
      for (const number of numbers) busiest.offer(number);
      expect(busiest.sorted()).toEqual([...numbers].sort(descending).slice(0, max));
    }),
  );
});
