import type { Alert } from '../../contract/resources/alert.ts';
import { jsonPage } from '../../database/json-page.ts';
import { boundsOnlyTime } from '../../database/lists/filter.ts';
import { pageFrom, pageOf, type Row } from '../../database/lists/list.ts';
import { lastSequence } from '../../database/rows.ts';
import { positionsByTime } from '../../database/time-pages.ts';
import { withAssets } from '../../events/alert-assets.ts';
import type { AssetLookup } from '../../events/asset-lookup.ts';
import type { ListFilter, ListPage, ListQuery, Replay } from '../../store/store.ts';
import { alertList, compileAlertFilter } from '../lists/alerts.ts';
import type { AlertTables } from './tables.ts';

/**
 * Returns one page of alerts with the exact total. The default list (newest first, any time range) reads only
 * its page from the index by time. In this case, `total` includes damaged alerts that are missing from the
 * page.
 *
 * @throws INVALID_REQUEST for unknown fields, values, and cursors of another list.
 */
export function listAlerts(
  tables: AlertTables,
  query: ListQuery,
  cancelled: () => boolean,
  assets: AssetLookup,
): ListPage {
  const { shown, ...rest } =
    query.sort === 'last_seen' && boundsOnlyTime(query)
      ? pageFrom(alertList, query, (after, offset) => positionsByTime(tables.alertTimes, query, after, offset))
      : pageOf(alertList, rows(tables, query, assets), query, cancelled);
  const alerts = shown.flatMap(({ id }) => {
    const row = tables.alerts.get(id);
    return row === undefined ? [] : { id, type: alertList.type, attributes: withAssets(row.alert, assets) };
  });
  return { json: jsonPage(alerts, query), ...rest };
}

function* rows({ alerts }: AlertTables, filter: ListFilter, assets: AssetLookup): Generator<Row<Alert>> {
  const byAsset = asksForAssets(filter);
  for (const { value } of alerts.getRange())
    yield { id: value.id, item: byAsset ? withAssets(value.alert, assets) : value.alert };
}

const asksForAssets = ({ terms }: ListFilter): boolean => terms.some(({ field }) => field === 'asset_id');

/** Returns the latest state of each matching alert that changed after `since`, in order of change. */
export function replayAlerts(
  tables: AlertTables,
  since: number,
  filter: ListFilter,
  limit: number,
  assets: AssetLookup,
): Replay<Alert> {
  const wanted = compileAlertFilter(filter);
  const head = lastSequence(tables.alertLog);
  const events: { seq: number; id: string; data: Alert }[] = [];
  let next = Math.max(since, 0);
  for (const { key, value: id } of tables.alertLog.getRange({ start: next, exclusiveStart: true })) {
    if (events.length === limit) return { events, next, head, lost: 0 };
    next = key;
    const row = tables.alerts.get(id);
    if (row === undefined) continue;
    const alert = withAssets(row.alert, assets);
    if (wanted(alert)) events.push({ seq: key, id, data: alert });
  }
  return { events, next: head, head, lost: 0 };
}
