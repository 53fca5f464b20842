import type { Rows } from '../../database/rows.ts';
import { linkBytes } from '../../events/plausible-bytes.ts';
import { limits } from '../../limits.ts';
import { type Level, levels, startOf, widthMs } from '../model/levels.ts';
import { distincts, type Fineness, type Rollup } from '../model/rollup.ts';

/*
 * The rollups in siem.mdb:
 *
 * ```
 *   deltas     41 42 43 …         added by each commit, per minute or hour
 *   buckets    minute hour day    all earlier events, once per level; a row of counts and a row with the whole rollup
 * ```
 *
 * A commit writes one small row; pending deltas are periodically added to the buckets. Readers combine
 * buckets and deltas.
 */

/** The key of a bucket: the index of its level, and its start. */
export type BucketKey = [level: number, start: number];

export interface RollupState {
  /** Secret key of the hashes from which distinct counts are estimated. */
  readonly key: readonly [number, number];
  /** Whether rollups include the events that were stored before the file had rollups. */
  readonly built: boolean;
  /**
   * The time by which alerts are counted; absent in files of versions that counted alerts by the time when
   * they were raised.
   */
  readonly alerts_by?: 'last_seen';
  /** Time of receipt of the newest event, epoch milliseconds; 0 before the first event. */
  readonly received: number;
}

export const keyOf = (level: Level, start: number): BucketKey => [levels.indexOf(level), start];

/** Returns the range of keys of a level in [from, to). */
export const keysOf = (level: Level, from: number, to: number) => ({
  start: keyOf(level, from),
  end: keyOf(level, to),
});

const keptMs = {
  minute: limits.rollupMinutesMs,
  hour: limits.rollupHoursMs,
  day: limits.rollupHoursMs,
} as const satisfies Record<Level, number>;

/** Returns the start of the oldest stored bucket of a level. */
export const floorOf = (level: Level, nowMs: number): number => startOf(level, nowMs - keptMs[level]);

/**
 * Limits of minute and hour buckets. Connections that begin in a minute may last longer, so up to the bytes of an hour
 * are accepted.
 */
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

/** Encodes the counters and distinct counts for series, so that series can be read without the sketches. */
export function encodeCounts(rollup: Rollup): Buffer {
  const numbers = [...rollup.counts, ...distincts.map((of) => rollup.different(of))];
  const bytes = Buffer.allocUnsafe(8 * numbers.length);
  for (const [i, number] of numbers.entries()) bytes.writeDoubleLE(number, 8 * i);
  return bytes;
}

/** Removes expired buckets, at most `limit`. */
export function removeOld(table: Rows<Buffer, BucketKey>, level: Level, nowMs: number, limit: number): void {
  const old = [...table.getKeys({ ...keysOf(level, 0, floorOf(level, nowMs)), limit })];
  for (const key of old) table.removeSync(key);
}
