import { hourMs } from './edge-fold.ts';
import { noHour } from './edges.ts';
import type { Level } from './roll-up.ts';

/** A part of a level, in its buckets, half-open. */
export interface Part {
  readonly level: Level;
  readonly from: number;
  readonly to: number;
}

/** The earliest hour and the earliest day that are still kept. */
export interface Floors {
  readonly hour: number;
  readonly day: number;
}

export interface Cover {
  readonly parts: readonly Part[];
  /** What the parts cover, epoch milliseconds; absent where they have no end on that side. */
  readonly from?: number;
  readonly to?: number;
}

const whole: Cover = { parts: [{ level: 'ever', from: 0, to: 1 }] };

/**
 * Which buckets have what happened in a range: days, and hours at its ends. So a long range costs no more than its
 * days. Where hours are no longer kept the range is widened to days, and to everything where days are not.
 *
 * ```
 *   from ├──hours──┤───────days───────┤──hours──┤ to
 * ```
 */
export function cover(from: number | undefined, to: number | undefined, floors: Floors): Cover {
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

/** Hours, half-open; the ends that have no hours of their own any more on days. Undefined where days don't reach. */
function widened(
  from: number | undefined,
  to: number | undefined,
  floors: Floors,
): readonly [number, number] | undefined {
  let start = from === undefined ? 0 : Math.floor(from / hourMs);
  let end = to === undefined ? noHour : Math.ceil(to / hourMs);
  if (start % 24 !== 0 && start < floors.hour) start = Math.floor(start / 24) * 24;
  if (end !== noHour && end % 24 !== 0 && Math.floor(end / 24) * 24 < floors.hour)
    end = Math.ceil(end / 24) * 24;
  // Where nothing was dropped the days go back to the beginning.
  return floors.day > 0 && Math.floor(start / 24) < floors.day ? undefined : [start, end];
}

const parts = (part: Part): Part[] => (part.from < part.to ? [part] : []);
