import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Candidates } from '../../../src/detect/sigma/candidates.ts';

function taken(candidates: Candidates): number[] {
  const all: number[] = [];
  for (let rule = candidates.take(); rule >= 0; rule = candidates.take()) all.push(rule);
  return all;
}

it('candidates are yielded in order and once, and are then removed', () => {
  const rule = fc.oneof(fc.nat({ max: 3000 }), fc.constantFrom(0, 31, 32, 63, 1023, 1024, 2047, 3000));
  fc.assert(
    fc.property(fc.array(fc.array(rule)), (records) => {
      const candidates = new Candidates(3001);
      for (const rules of records) {
        candidates.addAll(rules);
        expect(taken(candidates)).toEqual([...new Set(rules)].sort((a, b) => a - b));
      }
      expect(candidates.take()).toBe(-1);
    }),
  );
});

it('there are no candidates without rules', () => {
  expect(new Candidates(0).take()).toBe(-1);
});
