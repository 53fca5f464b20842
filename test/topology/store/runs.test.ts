import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Level } from '../../../src/topology/model/roll-up.ts';
import type { RunRow } from '../../../src/topology/store/graph-tables.ts';
import { chooseRuns } from '../../../src/topology/store/runs.ts';

const run = (rows: number): RunRow => [{ id: 0, rows, min: 0, max: 0, bytes: 0 }];

/** Chooses among runs of these rows, oldest first. */
const choose = (lengths: Partial<Record<Level, readonly number[]>>) => {
  const { hour = [], day = [], ever = [] } = lengths;
  return chooseRuns({ hour: hour.map(run), day: day.map(run), ever: ever.map(run) });
};

it('the next merge takes the newest run and the runs before it, up to a run with more than twice as many rows', () => {
  expect(choose({ hour: [1000, 20, 15, 10] })).toEqual({ level: 'hour', from: 1, to: 4 });
  expect(choose({ hour: [80, 20, 15, 10] })).toEqual({ level: 'hour', from: 0, to: 4 });
  expect(choose({ hour: [1000, 200, 30] })).toBeUndefined();
  expect(choose({})).toBeUndefined();
});

it('the next merge takes runs of equal lengths although a short run follows', () => {
  expect(choose({ hour: [500, 500, 500, 10] })).toEqual({ level: 'hour', from: 0, to: 3 });
});

it('the next merge takes at most eight runs: the runs with the fewest rows', () => {
  const rows = [50, 50, 50, 9, 9, 9, 9, 9, 9, 9, 9, 50, 50];
  expect(choose({ day: rows })).toEqual({ level: 'day', from: 3, to: 11 });
});

it('the next merge is in the level with the most runs, so that each level gets a turn', () => {
  expect(choose({ hour: [9, 9], day: [9, 9, 9], ever: [9, 9] })).toMatchObject({ level: 'day' });
});

it('merging leaves runs of more than twice the rows of all newer runs, and rewrites a row about log2(rows) times', () => {
  const taken = fc.oneof(fc.constantFrom(1, 16_384), fc.integer({ min: 1, max: 300 }));
  fc.assert(
    fc.property(
      fc.array(taken, { minLength: 1, maxLength: 400, size: 'max' }),
      fc.integer({ min: 1, max: 60 }),
      (lengths, every) => {
        let runs: number[] = [];
        let rewritten = 0;
        const merge = (): boolean => {
          const chosen = choose({ ever: runs });
          if (chosen === undefined) return false;
          const { from, to } = chosen;
          expect(to - from).toBeLessThanOrEqual(8);
          const rows = runs.slice(from, to).reduce((sum, one) => sum + one, 0);
          rewritten += rows;
          runs = [...runs.slice(0, from), rows, ...runs.slice(to)];
          return true;
        };
        for (const [n, rows] of lengths.entries()) {
          runs.push(rows);
          if (n % every === 0) while (merge());
        }
        while (merge());
        let newer = 0;
        for (const rows of runs.toReversed()) {
          expect(rows).toBeGreaterThan(2 * newer);
          newer += rows;
        }
        expect(rewritten).toBeLessThanOrEqual(newer * (1 + Math.log2(newer)));
      },
    ),
  );
});
