import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bucketsOf, type Floors } from '../../src/topology/model/range-buckets.ts';

const hour = 3_600_000;
const noFloors: Floors = { hour: 0, day: 0 };

/** Returns how often each hour of the first days is counted. */
function counted(from: number | undefined, to: number | undefined, floors: Floors, hours = 24 * 12): number[] {
  const times = Array.from({ length: hours }, () => 0);
  for (const part of bucketsOf(from, to, floors).parts)
    for (let at = 0; at < hours; at++) {
      const bucket = part.level === 'hour' ? at : part.level === 'day' ? Math.floor(at / 24) : 0;
      if (bucket >= part.from && bucket < part.to) times[at]!++;
    }
  return times;
}

const time = fc.option(fc.integer({ min: 0, max: 10 * 24 * hour }), { nil: undefined });

it('exactly the hours of the range are counted, each once', () => {
  fc.assert(
    fc.property(time, time, (a, b) => {
      const [from, to] = a !== undefined && b !== undefined && a > b ? [b, a] : [a, b];
      const first = from === undefined ? 0 : Math.floor(from / hour);
      const end = to === undefined ? Infinity : Math.ceil(to / hour);
      const wanted = counted(from, to, noFloors).map((_, at) => (at >= first && at < end ? 1 : 0));
      expect(counted(from, to, noFloors)).toEqual(wanted);
    }),
  );
});

it('if hours or days were removed, the range is wider, and the result states this', () => {
  fc.assert(
    fc.property(time, time, fc.nat(200), fc.nat(8), (a, b, hourFloor, day) => {
      const [from, to] = a !== undefined && b !== undefined && a > b ? [b, a] : [a, b];
      const floors = { hour: hourFloor, day };
      const { from: start = 0, to: end = Infinity, parts } = bucketsOf(from, to, floors);
      expect(start).toBeLessThanOrEqual(from ?? 0);
      expect(end).toBeGreaterThanOrEqual(to ?? Infinity);
      const wanted = counted(from, to, floors).map((_, at) => (at * hour >= start && at * hour < end ? 1 : 0));
      expect(counted(from, to, floors)).toEqual(wanted);
      for (const part of parts) {
        if (part.level === 'hour') expect(part.from).toBeGreaterThanOrEqual(hourFloor);
        if (part.level === 'day') expect(part.from).toBeGreaterThanOrEqual(day);
      }
    }),
  );
});

it('the result states the range in full hours, and omits it for the whole graph', () => {
  expect(bucketsOf(undefined, undefined, noFloors)).toEqual({ parts: [{ level: 'ever', from: 0, to: 1 }] });
  expect(bucketsOf(90 * 60_000, 100 * 60_000, noFloors)).toMatchObject({ from: hour, to: 2 * hour });
  expect(bucketsOf(5 * 24 * hour, undefined, { hour: 0, day: 6 })).toEqual({
    parts: [{ level: 'ever', from: 0, to: 1 }],
  });
});
