import type { Histogram } from '../../contract/resources/histogram.ts';
import { severities } from '../../contract/vocabulary.ts';
import type { AssetLookup } from '../../events/asset-lookup.ts';
import { spanOf, TimeBuckets } from '../../events/time-buckets.ts';
import { alertList } from '../lists/alerts.ts';
import type { AlertHistogramQuery, ListFilter, SortOrder } from '../store.ts';
import { visitAlertFacts } from './alert-scan.ts';
import type { Tables } from './tables.ts';
import { timeRange } from './time-pages.ts';

/**
 * Counts the alerts that match by when they were last seen. Bounds that are not given default to those of the
 * stored alerts.
 */
export function alertHistogram(
  tables: Pick<Tables, 'alerts' | 'alertFacts' | 'alertTimes'>,
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

/** When the first or the last of the alerts within the bounds was last seen. */
function firstTime(
  { alertTimes }: Pick<Tables, 'alertTimes'>,
  filter: ListFilter,
  order: SortOrder,
): number | undefined {
  for (const [time] of alertTimes.getKeys({ ...timeRange({ ...filter, order }), limit: 1 })) return time;
  return undefined;
}
