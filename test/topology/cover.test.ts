import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cover, type Floors } from '../../src/topology/cover.ts';

const hour = 3_600_000;
const noFloors: Floors = { hour: 0, day: 0 };

/** How often each hour of the first days is counted. */
function counted(
  from: number | undefined,
  to: number | undefined,
  floors: Floors,
  hours = 24 * 12,
): number[] {
  const times = Array.from({ length: hours }, () => 0);
  for (const part of cover(from, to, floors).parts)
    for (let at = 0; at < hours; at++) {
      const bucket = part.level === 'hour' ? at : part.level === 'day' ? Math.floor(at / 24) : 0;
      if (bucket >= part.from && bucket < part.to) times[at]!++;
    }
  return times;
}

const time = fc.option(fc.integer({ min: 0, max: 10 * 24 * hour }), { nil: undefined });

it('each hour of the range is counted once, no other', () => {
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

it('where hours or days are gone the range is wider, and says so', () => {
  fc.assert(
    fc.property(time, time, fc.nat(200), fc.nat(8), (a, b, hourFloor, day) => {
      const [from, to] = a !== undefined && b !== undefined && a > b ? [b, a] : [a, b];
      const floors = { hour: hourFloor, day };
      const { from: start = 0, to: end = Infinity, parts } = cover(from, to, floors);
      expect(start).toBeLessThanOrEqual(from ?? 0);
      expect(end).toBeGreaterThanOrEqual(to ?? Infinity);
      const wanted = counted(from, to, floors).map((_, at) =>
        at * hour >= start && at * hour < end ? 1 : 0,
      );
      expect(counted(from, to, floors)).toEqual(wanted);
      for (const part of parts) {
        if (part.level === 'hour') expect(part.from).toBeGreaterThanOrEqual(hourFloor);
        if (part.level === 'day') expect(part.from).toBeGreaterThanOrEqual(day);
      }
    }),
  );
});

it('names the range in full hours, and none where it is everything', () => {
  expect(cover(undefined, undefined, noFloors)).toEqual({ parts: [{ level: 'ever', from: 0, to: 1 }] });
  expect(cover(90 * 60_000, 100 * 60_000, noFloors)).toMatchObject({ from: hour, to: 2 * hour });
  expect(cover(5 * 24 * hour, undefined, { hour: 0, day: 6 })).toEqual({
    parts: [{ level: 'ever', from: 0, to: 1 }],
  });
});
