import { linkBytes } from '../../events/plausible-bytes.ts';
import { limits } from '../../limits.ts';
import type { Cell } from '../model/event-fold.ts';
import { cover, type Level, type Part, startOf, widthMs } from '../model/levels.ts';
import { counters, distincts, Rollup } from '../model/rollup.ts';
import { decodeRollup } from '../model/rollup-bytes.ts';
import { AlertTally, type Metric, metrics, type RollupQuery, type RollupView } from '../model/view.ts';
import { decodeAlerts } from './alert-counts.ts';
import { decodeCells } from './deltas.ts';
import { type BucketKey, fineness, keyOf, keysOf } from './rollup-tables.ts';
import type { RollupTables } from './tables.ts';

/**
 * Returns an empty rollup for a window, with higher precision than the buckets, so that merging the buckets
 * loses little.
 */
const sumOf = (lengthMs: number): Rollup => new Rollup({ hashes: 4096, entries: 512, bytes: linkBytes(lengthMs) });

/**
 * Returns all rollups of a window from one snapshot. Reads at most about sixty buckets and the deltas,
 * regardless of the number of events.
 */
export function readRollups(tables: RollupTables, query: RollupQuery): RollupView {
  const end = endOf(query);
  const deltas = [...tables.rollupDeltas.getRange()]
    .flatMap(({ value }) => [...decodeCells(value)])
    .filter(({ start }) => start < end);
  const current = cover(query.from).map((part) => ({ ...part, to: Math.min(part.to, end) }));
  const previous = cover(query.previousFrom, query.from);
  const received = tables.rollupState.get('rollups')?.received ?? 0;
  return {
    current: readParts(tables, current, deltas, sumOf(query.now - query.from), true),
    previous: readParts(tables, previous, deltas, sumOf(query.from - query.previousFrom), false),
    currentAlerts: readAlerts(tables, current),
    previousAlerts: readAlerts(tables, previous),
    series: readSeries(tables, query, deltas),
    begins: beginning(tables, deltas),
    received: received === 0 ? undefined : received,
  };
}

/**
 * Returns the end of a window. Buckets after this end were written before the clock was set back. Buckets
 * slightly after `now` are included, because a clock may be slightly ahead.
 */
const endOf = ({ now }: RollupQuery): number => now + limits.maxClockJumpMs;

function readParts(
  tables: RollupTables,
  parts: readonly Part[],
  deltas: readonly Cell[],
  sum: Rollup,
  withTops: boolean,
): Rollup {
  for (const { level, from, to } of parts) {
    for (const { value } of tables.rollupSketches.getRange(keysOf(level, from, to)))
      sum.merge(decodeRollup(value, fineness[level], withTops));
    for (const { start, rollup } of deltas) if (start >= from && start < to) sum.merge(rollup);
  }
  return sum;
}

function readAlerts(tables: RollupTables, parts: readonly Part[]): AlertTally {
  const sum = new AlertTally();
  for (const { level, from, to } of parts)
    for (const { value } of tables.rollupAlerts.getRange(keysOf(level, from, to))) sum.merge(decodeAlerts(value));
  return sum;
}

function readSeries(tables: RollupTables, query: RollupQuery, deltas: readonly Cell[]): Record<Metric, Float64Array> {
  const { unit, seriesFrom, now } = query;
  const buckets = 1 + (startOf(unit, Math.max(now, seriesFrom)) - seriesFrom) / widthMs[unit];
  const series = Object.fromEntries(metrics.map((metric) => [metric, new Float64Array(buckets)])) as Record<
    Metric,
    Float64Array
  >;
  /**
   * Returns the index of a bucket in the series. A bucket that begins in the future, because the clock was ahead when
   * the bucket was written, counts as the current bucket.
   */
  const placeOf = (start: number) => Math.min(buckets - 1, (start - seriesFrom) / widthMs[unit]);
  const all = keysOf(unit, seriesFrom, endOf(query));
  for (const { key, value } of tables.rollupCounts.getRange(all)) {
    const place = placeOf(key[1]);
    for (const [i, counter] of counters.entries()) series[counter][place]! += value.readDoubleLE(8 * i);
    for (const [i, of] of distincts.entries())
      series[of][place] = Math.max(series[of][place]!, value.readDoubleLE(8 * (counters.length + i)));
  }
  for (const [start, rollup] of touched(tables, unit, seriesFrom, deltas)) {
    const place = placeOf(start);
    for (const of of distincts) series[of][place] = Math.max(series[of][place]!, rollup.different(of));
  }
  for (const { start, rollup } of deltas) {
    const bucket = startOf(unit, start);
    if (bucket < seriesFrom) continue;
    for (const counter of counters) series[counter][placeOf(bucket)]! += rollup.count(counter);
  }
  series.bytes = series.bytes.map((sum) => Math.min(sum, fineness[unit].bytes));
  for (const { key, value } of tables.rollupAlerts.getRange(all))
    series.alerts[placeOf(key[1])]! += decodeAlerts(value).total;
  return series;
}

/** Returns distinct counts for each bucket that has deltas: the stored counts, merged with the deltas. */
function touched(tables: RollupTables, unit: Level, from: number, deltas: readonly Cell[]): Map<number, Rollup> {
  const buckets = new Map<number, Rollup>();
  for (const { start, rollup } of deltas) {
    const bucket = startOf(unit, start);
    if (bucket < from) continue;
    let sum = buckets.get(bucket);
    if (sum === undefined) {
      const stored = tables.rollupSketches.get(keyOf(unit, bucket));
      sum = stored === undefined ? new Rollup(fineness[unit]) : decodeRollup(stored, fineness[unit], false);
      buckets.set(bucket, sum);
    }
    sum.mergeDistinct(rollup);
  }
  return buckets;
}

/** Returns the start of the first hour with data; undefined without data. */
function beginning(tables: RollupTables, deltas: readonly Cell[]): number | undefined {
  const first = (keys: Iterable<BucketKey>): number => {
    for (const [, start] of keys) return start;
    return Number.POSITIVE_INFINITY;
  };
  const hours = { ...keysOf('hour', 0, Number.POSITIVE_INFINITY), limit: 1 };
  const starts = deltas.map(({ start }) => startOf('hour', start));
  const begins = Math.min(
    first(tables.rollupCounts.getKeys(hours)),
    first(tables.rollupAlerts.getKeys(hours)),
    ...starts,
  );
  return begins === Number.POSITIVE_INFINITY ? undefined : begins;
}
