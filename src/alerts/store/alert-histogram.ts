import type { Histogram } from '../../contract/resources/histogram.ts';
import { severities } from '../../contract/vocabulary.ts';
import { timeRange } from '../../database/time-pages.ts';
import type { AssetLookup } from '../../events/asset-lookup.ts';
import { spanOf, TimeBuckets } from '../../events/query/time-buckets.ts';
import type { AlertHistogramQuery, ListFilter, SortOrder } from '../../store/store.ts';
import { alertList } from '../lists/alerts.ts';
import { visitAlertFacts } from './alert-scan.ts';
import type { AlertTables } from './tables.ts';

/**
 * Counts matching alerts by the time when they were last seen. Missing bounds are replaced by the times of the
 * first and the last stored alert.
 */
export function alertHistogram(
  tables: Pick<AlertTables, 'alerts' | 'alertFacts' | 'alertTimes'>,
  assets: AssetLookup,
  { filter, buckets: most, now }: AlertHistogramQuery,
  cancelled: () => boolean,
): Histogram {
  const first = firstTime(tables, filter, 'asc');
  const last = firstTime(tables, filter, 'desc');
  const stored = first === undefined || last === undefined ? undefined : { first, last };
  const buckets = new TimeBuckets(spanOf(filter, stored, now), most);
  visitAlertFacts(
    tables,
    assets,
    filter,
    {},
    (_id, { last_seen, severity }) => {
      buckets.add(buckets.at(Date.parse(last_seen)), severities.indexOf(severity));
      return undefined;
    },
    cancelled,
  );
  return buckets.histogram(alertList.type);
}

/** Returns the earliest or the latest time within the bounds when an alert was last seen. */
function firstTime(
  { alertTimes }: Pick<AlertTables, 'alertTimes'>,
  filter: ListFilter,
  order: SortOrder,
): number | undefined {
  for (const [time] of alertTimes.getKeys({ ...timeRange({ ...filter, order }), limit: 1 })) return time;
  return undefined;
}
