import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Detector, Flow, Sighted } from '../../../src/detect/behaviour/detector.ts';

/** What is told when all is counted. */
export function judged(detector: Detector): Sighted[] {
  const all: Sighted[] = [];
  detector.judge((sighted) => all.push(sighted));
  return all.sort((a, b) => (a.title < b.title ? -1 : 1));
}

export function fed<D extends Detector>(detector: D, flows: Iterable<Flow>): D {
  for (const flow of flows) detector.flow?.(flow);
  return detector;
}

const carried = (detector: Detector): unknown => deserialize(serialize(detector.state()));

/** In whatever order and in how many parts flows are told, and through whatever restart, the same is concluded. */
export function expectSameTold(make: () => Detector, flows: readonly Flow[]): void {
  const whole = judged(fed(make(), flows));
  expect(whole.length).toBeGreaterThan(0);
  const order = fc.shuffledSubarray([...flows], { minLength: flows.length });
  fc.assert(
    fc.property(order, fc.nat(flows.length), (shuffled, cut) => {
      expect(judged(fed(make(), shuffled))).toEqual(whole);

      const one = fed(make(), shuffled.slice(0, cut));
      one.merge(carried(fed(make(), shuffled.slice(cut))));
      expect(judged(one)).toEqual(whole);
    }),
    { numRuns: 15 },
  );
  fc.assert(
    fc.property(fc.nat(flows.length), (cut) => {
      const straight = fed(make(), flows.slice(0, cut));
      judged(straight);
      const restarted = make();
      restarted.restore(carried(straight));
      expect(judged(fed(restarted, flows.slice(cut)))).toEqual(judged(fed(straight, flows.slice(cut))));
    }),
    { numRuns: 15 },
  );
}
