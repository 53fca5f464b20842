import { linkBytes } from '../../../events/carried.ts';
import { limits } from '../../../limits.ts';
import { type Level, levels, startOf, widthMs } from '../../../rollups/levels.ts';
import type { Fineness, Rollup } from '../../../rollups/rollup.ts';
import { distincts } from '../../../rollups/rollup.ts';
import type { Rows } from '../seal.ts';

/**
 * The rollups in siem.mdb:
 *
 * ```
 *   deltas     41 42 43 …         what each commit added, by the minute or the hour
 *   buckets    minute hour day    all before, each event in one of each level; a row of counts, and one of all
 * ```
 *
 * A commit writes one small row; now and then those that wait are added to the buckets. Readers take both.
 */
export type BucketKey = [level: number, start: number];

export interface RollupState {
  /** Of the hashes that numbers of different ones are estimated from. Nobody outside may know it. */
  readonly key: readonly [number, number];
  /** Everything that was stored before rollups were is in them. */
  readonly built: boolean;
  /** By which time alerts are counted; absent in files of versions that counted them by when they were raised. */
  readonly alerts_by?: 'last_seen';
  /** When the newest event was received, epoch milliseconds; 0 before the first. */
  readonly received: number;
}

export const keyOf = (level: Level, start: number): BucketKey => [levels.indexOf(level), start];

/** Keys of a level in [from, to). */
export const keysOf = (level: Level, from: number, to: number) => ({
  start: keyOf(level, from),
  end: keyOf(level, to),
});

const keptMs = {
  minute: limits.rollupMinutesMs,
  hour: limits.rollupHoursMs,
  day: limits.rollupHoursMs,
} as const satisfies Record<Level, number>;

/** The start of the oldest bucket of a level that is kept. */
export const floorOf = (level: Level, nowMs: number): number => startOf(level, nowMs - keptMs[level]);

/** Connections of a minute may go on long after it: they may have the bytes of an hour. */
const short = {
  hashes: limits.maxRollupHashes,
  entries: limits.maxRollupEntries,
  bytes: linkBytes(widthMs.hour),
};
export const fineness = {
  minute: short,
  hour: short,
  day: { ...short, entries: limits.maxRollupDayEntries, bytes: linkBytes(widthMs.day) },
} as const satisfies Record<Level, Fineness>;

/** The counters, and the numbers of different ones, as series show them: so that these need not read the rest. */
export function encodeCounts(rollup: Rollup): Buffer {
  const numbers = [...rollup.counts, ...distincts.map((of) => rollup.different(of))];
  const bytes = Buffer.allocUnsafe(8 * numbers.length);
  for (const [i, number] of numbers.entries()) bytes.writeDoubleLE(number, 8 * i);
  return bytes;
}

/** Removes buckets that are no longer kept, at most so many. */
export function removeOld(table: Rows<Buffer, BucketKey>, level: Level, nowMs: number, limit: number): void {
  const old = [...table.getKeys({ ...keysOf(level, 0, floorOf(level, nowMs)), limit })];
  for (const key of old) table.removeSync(key);
}
