import type { Window } from '../contract/vocabulary.ts';
import { limits } from '../limits.ts';
import { type Level, startOf, widthMs } from '../rollups/levels.ts';
import type { RollupQuery } from '../rollups/view.ts';

/** How long each window is, and how wide the buckets of its series are. */
const shapes = {
  '15m': { lengthMs: 15 * widthMs.minute, unit: 'minute' },
  '1h': { lengthMs: widthMs.hour, unit: 'minute' },
  '24h': { lengthMs: widthMs.day, unit: 'hour' },
  '7d': { lengthMs: 7 * widthMs.day, unit: 'hour' },
  '30d': { lengthMs: 30 * widthMs.day, unit: 'day' },
} as const satisfies Record<Window, { readonly lengthMs: number; readonly unit: Level }>;

/** What is asked for a window. */
export interface WindowQuery {
  readonly window: Window;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Where a window up to `now` begins, to the millisecond. */
export const windowStart = (window: Window, now: number): number => now - shapes[window].lengthMs;

/**
 * The times of a window up to now: it starts with the bucket in which it began, and the one before it has as many whole
 * buckets as are asked for.
 *
 * @param withHistory - series begin with the oldest buckets that are kept
 */
export function rollupQuery({ window, now }: WindowQuery, withHistory: boolean): RollupQuery {
  const { lengthMs, unit } = shapes[window];
  const from = startOf(unit, now - lengthMs);
  const keptMs = unit === 'minute' ? limits.rollupMinutesMs : limits.rollupHoursMs;
  const oldest = startOf(unit, now - keptMs) + widthMs[unit];
  return {
    unit,
    from,
    previousFrom: from - lengthMs,
    seriesFrom: withHistory ? Math.min(from, oldest) : from,
    now,
  };
}

/** Starts of the buckets from one on, as many as there are values. */
export const points = (values: Float64Array, from: number, unit: Level) =>
  Array.from(values, (value, i) => ({
    at: new Date(from + i * widthMs[unit]).toISOString(),
    value: shown(value),
  }));

/** A count as JSON has it: whole, and as large as a double holds exactly. */
export const shown = (count: number): number =>
  count > 0 ? Math.min(Math.round(count), Number.MAX_SAFE_INTEGER) : 0;
