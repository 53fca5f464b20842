import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Detection, Detector, Flow } from '../../../src/detect/behaviour/detector.ts';

/** Returns the findings of one evaluation, in a fixed order. */
export function detections(detector: Detector): Detection[] {
  const all: Detection[] = [];
  detector.evaluate((detection) => all.push(detection));
  return all.sort((a, b) => (a.title < b.title ? -1 : 1));
}

export function fed<D extends Detector>(detector: D, flows: Iterable<Flow>): D {
  for (const flow of flows) detector.flow?.(flow);
  return detector;
}

const carried = (detector: Detector): unknown => deserialize(serialize(detector.state()));

/** Checks that findings do not depend on the order of flows, on a merge of two states, or on a restart. */
export function expectSameDetections(make: () => Detector, flows: readonly Flow[]): void {
  const whole = detections(fed(make(), flows));
  expect(whole.length).toBeGreaterThan(0);
  const order = fc.shuffledSubarray([...flows], { minLength: flows.length });
  fc.assert(
    fc.property(order, fc.nat(flows.length), (shuffled, cut) => {
      expect(detections(fed(make(), shuffled))).toEqual(whole);

      const one = fed(make(), shuffled.slice(0, cut));
      one.merge(carried(fed(make(), shuffled.slice(cut))));
      expect(detections(one)).toEqual(whole);
    }),
    { numRuns: 15 },
  );
  fc.assert(
    fc.property(fc.nat(flows.length), (cut) => {
      const straight = fed(make(), flows.slice(0, cut));
      detections(straight);
      const restarted = make();
      restarted.restore(carried(straight));
      expect(detections(fed(restarted, flows.slice(cut)))).toEqual(detections(fed(straight, flows.slice(cut))));
    }),
    { numRuns: 15 },
  );
}
