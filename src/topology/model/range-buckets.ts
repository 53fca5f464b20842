import { hourMs } from './edge-fold.ts';
import { noHour } from './edges.ts';
import type { Level } from './roll-up.ts';

/** A half-open range of buckets of a level. */
export interface Part {
  readonly level: Level;
  readonly from: number;
  readonly to: number;
}

/** The start of the stored hours and of the stored days. */
export interface Floors {
  /** The earliest hour that is still stored. */
  readonly hour: number;
  /** The earliest day that is still stored. */
  readonly day: number;
}

export interface RangeBuckets {
  readonly parts: readonly Part[];
  /** Start of the time that the parts cover, epoch milliseconds; absent if there is no limit. */
  readonly from?: number;
  /** End of the time that the parts cover, epoch milliseconds; absent if there is no limit. */
  readonly to?: number;
}

const whole: RangeBuckets = { parts: [{ level: 'ever', from: 0, to: 1 }] };

/**
 * Returns the buckets of a range: days, and hours at the start and the end. The cost of a long range therefore depends
 * on the number of days. If hours are no longer stored, the range is widened to days. If the days are no longer stored
 * either, the range is widened to all data.
 *
 * ```
 * from ├──hours──┤───────days───────┤──hours──┤ to
 * ```
 */
export function bucketsOf(from: number | undefined, to: number | undefined, floors: Floors): RangeBuckets {
  if (from === undefined && to === undefined) return whole;
  const wide = widened(from, to, floors);
  if (wide === undefined) return whole;
  const [start, end] = wide;
  const firstDay = Math.ceil(start / 24);
  const lastDay = end === noHour ? noHour : Math.floor(end / 24);
  const range = {
    ...(from === undefined ? {} : { from: start * hourMs }),
    ...(to === undefined ? {} : { to: end * hourMs }),
  };
  if (lastDay <= firstDay) return { parts: parts({ level: 'hour', from: start, to: end }), ...range };
  return {
    parts: [
      ...parts({ level: 'hour', from: start, to: firstDay * 24 }),
      ...parts({ level: 'day', from: firstDay, to: lastDay }),
      ...(end === noHour ? [] : parts({ level: 'hour', from: lastDay * 24, to: end })),
    ],
    ...range,
  };
}

/**
 * Returns the range in hours, half-open. A limit whose hour is no longer stored is moved to the start or end of
 * its day. Returns undefined if the days are no longer stored.
 */
function widened(
  from: number | undefined,
  to: number | undefined,
  floors: Floors,
): readonly [number, number] | undefined {
  let start = from === undefined ? 0 : Math.floor(from / hourMs);
  let end = to === undefined ? noHour : Math.ceil(to / hourMs);
  if (start % 24 !== 0 && start < floors.hour) start = Math.floor(start / 24) * 24;
  if (end !== noHour && end % 24 !== 0 && Math.floor(end / 24) * 24 < floors.hour) end = Math.ceil(end / 24) * 24;
  // If no days were dropped, days cover all data.
  return floors.day > 0 && Math.floor(start / 24) < floors.day ? undefined : [start, end];
}

const parts = (part: Part): Part[] => (part.from < part.to ? [part] : []);
