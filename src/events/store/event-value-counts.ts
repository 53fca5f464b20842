import type { ValueCounts } from '../../contract/resources/value-counts.ts';
import type { EventValuesQuery } from '../../store/store.ts';
import type { CountValues } from '../query/count-values.ts';
import type { CompiledFilter } from '../query/select.ts';
import { ValueTally } from '../query/value-tally.ts';
import { resourceTypes } from '../resource.ts';
import type { BlockDirectory } from './block-directory.ts';
import type { BlockStore } from './block-store.ts';

/**
 * Counts the values of matching events, newest block first. If there are more distinct values than can be
 * tracked, values found only in older events are left out.
 */
export function eventValueCounts(
  store: BlockStore,
  { table, firstSeq, rows, minTime, maxTime, count: blocks }: BlockDirectory,
  filter: CompiledFilter,
  countValues: CountValues,
  { filter: { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }, by, limit }: EventValuesQuery,
): ValueCounts {
  const tally = new ValueTally();
  let total = 0;
  let absent = 0;
  for (let place = blocks - 1; place >= 0; place--) {
    if (!(maxTime[place]! >= from && minTime[place]! < to)) continue;
    const block = store.openBorrowed(table, firstSeq[place]!, rows[place]!);
    const found = filter.select(block);
    total += found.length;
    if (found.length > 0) absent += countValues(block, found, tally);
  }
  return { of: resourceTypes[table], by, total, absent, ...tally.top(limit) };
}
