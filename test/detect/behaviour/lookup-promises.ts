import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Detector, Lookup } from '../../../src/detect/behaviour/detector.ts';
import { sightedOf } from './told-lookups.ts';

/**
 * What every detector promises, held to look-ups of which it tells something: the order within the window, how they are
 * cut into pieces that are merged, and being stored in between, change nothing.
 */
export function keepsPromises(make: () => Detector, lookups: readonly Lookup[]): void {
  const all = sightedOf(make(), lookups, Number.POSITIVE_INFINITY);
  expect(all.length).toBeGreaterThan(0);
  fc.assert(
    fc.property(fc.shuffledSubarray([...lookups], { minLength: lookups.length }), (shuffled) => {
      expect(sightedOf(make(), shuffled, Number.POSITIVE_INFINITY)).toEqual(all);
    }),
    { numRuns: 5 },
  );
  fc.assert(
    fc.property(fc.infiniteStream(fc.boolean()), (sides) => {
      const [one, other] = [make(), make()];
      for (const lookup of lookups) (sides.next().value ? one : other).lookup?.(lookup);
      one.merge(deserialize(serialize(other.state())));
      expect(sightedOf(one, [])).toEqual(all);
    }),
    { numRuns: 5 },
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: lookups.length }),
      fc.integer({ min: 1, max: 64 }),
      (cut, every) => {
        const one = make();
        sightedOf(one, lookups.slice(0, cut), every);
        const other = make();
        other.restore(deserialize(serialize(one.state())));
        const further = sightedOf(one, lookups.slice(cut), every);
        expect(sightedOf(other, lookups.slice(cut), every)).toEqual(further);
      },
    ),
    { numRuns: 10 },
  );
}
