import type { Alert } from '../../contract/resources/alert.ts';
import type { Rows } from '../../database/rows.ts';
import { ServiceError } from '../../errors.ts';
import { withAssets } from '../../events/alert-assets.ts';
import type { AssetLookup } from '../../events/asset-lookup.ts';
import type { AlertSpan, ListFilter, VisitAlert, VisitFacts } from '../../store/store.ts';
import { compileAlertFilter } from '../lists/alerts.ts';
import { alertOfFacts, factsSuffice } from './alert-facts.ts';
import type { AlertTables } from './tables.ts';

/** Number of rows read between two checks for cancellation. Reading them takes a few milliseconds. */
const rowsAtOnce = 1024;

/**
 * Visits the matching alerts in the order of their ids, which is the order in which they were raised and
 * never changes. Each row is read whole, so that a limit on rows limits the time.
 *
 * @throws INVALID_REQUEST naming a value of the filter; CANCELLED
 */
export const visitAlerts = (
  { alerts }: Pick<AlertTables, 'alerts'>,
  assets: AssetLookup,
  filter: ListFilter,
  span: AlertSpan,
  visit: VisitAlert,
  cancelled: () => boolean,
): string | undefined => visitRows(alerts, ({ alert }) => alert, assets, filter, span, visit, cancelled);

/**
 * Like `visitAlerts`, with only the attributes for counting. Whole rows are read only if the filter needs more
 * attributes.
 */
export const visitAlertFacts = (
  tables: Pick<AlertTables, 'alerts' | 'alertFacts'>,
  assets: AssetLookup,
  filter: ListFilter,
  span: AlertSpan,
  visit: VisitFacts,
  cancelled: () => boolean,
): string | undefined =>
  factsSuffice(filter)
    ? visitRows(tables.alertFacts, alertOfFacts, assets, filter, span, visit, cancelled)
    : visitAlerts(tables, assets, filter, span, visit, cancelled);

function visitRows<V>(
  table: Rows<V, string>,
  alertOf: (row: V) => Alert,
  assets: AssetLookup,
  filter: ListFilter,
  span: AlertSpan,
  visit: VisitAlert,
  cancelled: () => boolean,
): string | undefined {
  const wanted = compileAlertFilter(filter);
  const named = span.withAssets === true || filter.terms.some(({ field }) => field === 'asset_id');
  const { after, until, newestFirst = false, rows = Number.POSITIVE_INFINITY } = span;
  let read = 0;
  const start = after === undefined ? {} : { start: after, exclusiveStart: true };
  for (const { key: id, value } of table.getRange({ reverse: newestFirst, ...start })) {
    if (until !== undefined && (newestFirst ? id < until : id > until)) return undefined;
    if (++read % rowsAtOnce === 0 && cancelled()) throw new ServiceError('CANCELLED', 'this query was cancelled');
    const stored = alertOf(value);
    const alert = named ? withAssets(stored, assets) : stored;
    const isEnough = wanted(alert) && visit(id, alert) === 'enough';
    if (isEnough || read >= rows) return id;
  }
  return undefined;
}

/** Returns the id of the alert that was raised last. */
export function lastAlertId({ alerts }: Pick<AlertTables, 'alerts'>): string | undefined {
  for (const id of alerts.getKeys({ reverse: true, limit: 1 })) return id;
  return undefined;
}
