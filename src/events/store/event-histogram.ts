import type { Histogram } from '../../contract/resources/histogram.ts';
import type { EventHistogramQuery } from '../../store/store.ts';
import type { EventBlock } from '../format/block.ts';
import { encodings } from '../format/block-format.ts';
import type { CompiledFilter } from '../query/select.ts';
import { spanOf, TimeBuckets, type TimeSpan } from '../query/time-buckets.ts';
import { resourceTypes } from '../resource.ts';
import type { BlockDirectory } from './block-directory.ts';
import type { BlockStore } from './block-store.ts';

/**
 * Counts the matching events in one pass over the blocks of a snapshot. Missing bounds default to the bounds of the
 * stored events, from the directory. A block within one bucket and with one severity is counted like the total of a
 * list, often from its header. For other blocks, times and severities are read.
 *
 * @param filter - the filter of the query, including its time range
 */
export function eventHistogram(
  store: BlockStore,
  directory: BlockDirectory,
  filter: CompiledFilter,
  query: EventHistogramQuery,
): Histogram {
  const buckets = new TimeBuckets(spanOf(query.filter, stored(directory, query.filter), query.now), query.buckets);
  const { table, firstSeq, rows, minTime, maxTime } = directory;
  for (let place = 0; place < directory.count; place++)
    if (maxTime[place]! >= buckets.from && minTime[place]! < buckets.to)
      countBlock(buckets, store.openBorrowed(table, firstSeq[place]!, rows[place]!), filter);
  return buckets.histogram(resourceTypes[table]);
}

/** Returns the time of the earliest event before `to`, and of the latest event at or after `from`. */
function stored(
  { count, minTime, maxTime }: BlockDirectory,
  { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: Partial<TimeSpan>,
) {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < count; place++) {
    if (minTime[place]! < to) first = Math.min(first, minTime[place]!);
    if (maxTime[place]! >= from) last = Math.max(last, maxTime[place]!);
  }
  return first <= last ? { first, last } : undefined;
}

function countBlock(buckets: TimeBuckets, block: EventBlock, filter: CompiledFilter): void {
  const severities = block.numbers('severity');
  const only = buckets.only(block.minTime, block.maxTime);
  if (only !== undefined && severities.encoding === encodings.constant) {
    buckets.add(only, severities.base, filter.count(block));
    return;
  }
  const rows = filter.all ? undefined : filter.select(block);
  const count = rows?.length ?? block.rows;
  if (only !== undefined) {
    for (let i = 0; i < count; i++) buckets.add(only, severities.at(rows === undefined ? i : rows[i]!));
    return;
  }
  const times = block.numbers('timestamp');
  for (let i = 0; i < count; i++) {
    const row = rows === undefined ? i : rows[i]!;
    buckets.add(buckets.at(times.at(row)), severities.at(row));
  }
}
