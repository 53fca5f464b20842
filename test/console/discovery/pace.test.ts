import { expect, it } from 'vitest';
import { paceOf, type Sample, withSample } from '../../../src/console/pages/discovery/pace.ts';

const fed = (samples: readonly Sample[]) => samples.reduce<readonly Sample[]>((all, one) => withSample(all, one), []);

it('the rate covers the last ten seconds, and determines the remaining time', () => {
  const steady = Array.from({ length: 60 }, (_, s) => ({
    at: s * 1000,
    done: s < 40 ? s * 10 : 400 + (s - 40) * 100,
  }));
  const samples = fed(steady);
  expect(samples.length).toBeLessThan(14);
  expect(paceOf(samples, 3300)).toEqual({ perSecond: 100, leftMs: 10_000 });
});

it('there is no rate without samples, time or progress', () => {
  expect(paceOf([], 100)).toBeUndefined();
  expect(
    paceOf(
      fed([
        { at: 0, done: 1 },
        { at: 200, done: 9 },
      ]),
      100,
    ),
  ).toBeUndefined();
  expect(
    paceOf(
      fed([
        { at: 0, done: 5 },
        { at: 5000, done: 5 },
      ]),
      100,
    ),
  ).toBeUndefined();
});

it('the rate restarts when progress goes back, and ignores duplicates', () => {
  expect(
    fed([
      { at: 0, done: 50 },
      { at: 1000, done: 3 },
    ]),
  ).toEqual([{ at: 1000, done: 3 }]);
  expect(
    fed([
      { at: 0, done: 5 },
      { at: 0, done: 5 },
    ]),
  ).toEqual([{ at: 0, done: 5 }]);
});
