import type { Window } from '../contract/vocabulary.ts';
import { limits } from '../limits.ts';
import { type Level, startOf, widthMs } from '../rollups/model/levels.ts';
import type { RollupQuery } from '../rollups/model/view.ts';

/** The length of each window, and the width of its buckets. */
const shapes = {
  '15m': { lengthMs: 15 * widthMs.minute, unit: 'minute' },
  '1h': { lengthMs: widthMs.hour, unit: 'minute' },
  '24h': { lengthMs: widthMs.day, unit: 'hour' },
  '7d': { lengthMs: 7 * widthMs.day, unit: 'hour' },
  '30d': { lengthMs: 30 * widthMs.day, unit: 'day' },
} as const satisfies Record<Window, { readonly lengthMs: number; readonly unit: Level }>;

export interface WindowQuery {
  readonly window: Window;
  /** Current time, epoch milliseconds. */
  readonly now: number;
}

/** Returns the exact start of a window that ends at `now`. */
export const windowStart = (window: Window, now: number): number => now - shapes[window].lengthMs;

/**
 * Returns the time ranges of a window up to now. The window starts with a whole bucket, and the previous window
 * has exactly the requested length.
 *
 * @param withHistory - true to start series with the oldest stored buckets
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

/** Pairs values with the starts of their buckets. */
export const points = (values: Float64Array, from: number, unit: Level) =>
  Array.from(values, (value, i) => ({
    at: new Date(from + i * widthMs[unit]).toISOString(),
    value: shown(value),
  }));

/** Returns a count for JSON: an integer, at most the largest integer that a double represents exactly. */
export const shown = (count: number): number => (count > 0 ? Math.min(Math.round(count), Number.MAX_SAFE_INTEGER) : 0);
