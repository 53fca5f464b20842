import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Detector, DnsLookup } from '../../../src/detect/behaviour/detector.ts';
import { detectionsOf } from './told-lookups.ts';

/**
 * Checks that a detector's findings do not depend on the order of look-ups within the window, on a merge of the states
 * of two parts, or on storing the state between look-ups. The look-ups must cause findings.
 */
export function keepsPromises(make: () => Detector, lookups: readonly DnsLookup[]): void {
  const all = detectionsOf(make(), lookups, Number.POSITIVE_INFINITY);
  expect(all.length).toBeGreaterThan(0);
  fc.assert(
    fc.property(fc.shuffledSubarray([...lookups], { minLength: lookups.length }), (shuffled) => {
      expect(detectionsOf(make(), shuffled, Number.POSITIVE_INFINITY)).toEqual(all);
    }),
    { numRuns: 5 },
  );
  fc.assert(
    fc.property(fc.infiniteStream(fc.boolean()), (sides) => {
      const [one, other] = [make(), make()];
      for (const lookup of lookups) (sides.next().value ? one : other).lookup?.(lookup);
      one.merge(deserialize(serialize(other.state())));
      expect(detectionsOf(one, [])).toEqual(all);
    }),
    { numRuns: 5 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: lookups.length }), fc.integer({ min: 1, max: 64 }), (cut, every) => {
      const one = make();
      detectionsOf(one, lookups.slice(0, cut), every);
      const other = make();
      other.restore(deserialize(serialize(one.state())));
      const further = detectionsOf(one, lookups.slice(cut), every);
      expect(detectionsOf(other, lookups.slice(cut), every)).toEqual(further);
    }),
    { numRuns: 10 },
  );
}
