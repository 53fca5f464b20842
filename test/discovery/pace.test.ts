import fc from 'fast-check';
import { expect, test } from 'vitest';
import { probePace } from '../../src/discovery/connect-scan.ts';

/** Simulates the times at which probes are sent if timers are imprecise. */
function sent(rate: number, latenesses: readonly number[]): number[] {
  const pace = probePace(rate);
  const times: number[] = [];
  let now = 1000;
  for (const lateness of latenesses) {
    for (let wait = pace.take(now); wait > 0; wait = pace.take(now)) now += wait + lateness;
    times.push(now);
  }
  return times;
}

test('the rate is never exceeded in any second, even with late timers', () => {
  const lateness = fc.oneof(
    fc.constant(0),
    fc.double({ min: 0, max: 5, noNaN: true }),
    fc.integer({ min: 0, max: 3000 }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.array(lateness, { minLength: 1, maxLength: 300 }), (rate, late) => {
      const times = sent(rate, late);
      for (let i = rate; i < times.length; i++)
        expect(times[i]! - times[i - rate]!).toBeGreaterThanOrEqual(1000 - 1e-6);
    }),
  );
});

test('at most three percent of the rate is lost with precise timers', () => {
  const times = sent(
    500,
    Array.from({ length: 5000 }, () => 0),
  );
  expect(times.at(-1)! - times[0]!).toBeLessThan(10_300);
});

test('probes are spread evenly over the second', () => {
  const times = sent(
    1000,
    Array.from({ length: 1000 }, () => 0),
  );
  for (let from = 1000; from < 1900; from += 50)
    expect(times.filter((time) => time >= from && time < from + 100).length).toBeLessThanOrEqual(120);
});
