import type { Dashboard } from '../contract/resources/dashboard.ts';
import { alertStatuses, severities } from '../contract/vocabulary.ts';
import { widthMs } from '../rollups/model/levels.ts';
import type { DistinctCounter, Rollup, Top } from '../rollups/model/rollup.ts';
import { type AlertTally, metrics } from '../rollups/model/view.ts';
import { standardError } from '../sketch/client-count.ts';
import type { TopEntry } from '../sketch/top-list.ts';
import type { StoreReader } from '../store/store.ts';
import { points, rollupQuery, shown, type WindowQuery } from './window.ts';

/** Maximum rows shown per list. */
const shownRows = 10;

/** A window, and values that are not in the store. */
export interface DashboardQuery extends WindowQuery, Pick<Dashboard, 'ledger_size' | 'ingest'> {}

/** Computes the statistics of a window, in time independent of the number of events. */
export function dashboard(reader: Pick<StoreReader, 'rollups'>, query: DashboardQuery): Dashboard {
  const asked = rollupQuery(query, false);
  const { unit, from, previousFrom, now } = asked;
  const { current, previous, currentAlerts, previousAlerts, series, received } = reader.rollups(asked);
  const totals = totalsOf(current, currentAlerts);
  const seconds = (now - from) / 1000;
  return {
    window: query.window,
    from: new Date(from).toISOString(),
    to: new Date(now).toISOString(),
    bucket_s: widthMs[unit] / 1000,
    totals,
    rates: {
      network_events: totals.network_events / seconds,
      dns_events: totals.dns_events / seconds,
      alerts: (totals.alerts / seconds) * 3600,
    },
    previous: {
      from: new Date(previousFrom).toISOString(),
      to: new Date(from).toISOString(),
      totals: totalsOf(previous, previousAlerts),
    },
    distinct: {
      sources: different(current, 'sources'),
      destinations: different(current, 'destinations'),
      domains: different(current, 'domains'),
    },
    alerts_by_severity: Object.fromEntries(
      severities.map((severity) => [severity, currentAlerts.ofSeverity(severity)]),
    ),
    alerts_by_status: Object.fromEntries(alertStatuses.map((status) => [status, currentAlerts.ofStatus(status)])),
    top_talkers: top(current, 'talkers', 'events'),
    top_destinations: top(current, 'destinations', 'events'),
    top_services: top(current, 'services', 'events'),
    top_domains: top(current, 'domains', 'events').map(({ key, events, error }) => ({ key, events, error })),
    top_talkers_by_bytes: top(current, 'talkers', 'bytes'),
    top_destinations_by_bytes: top(current, 'destinations', 'bytes'),
    top_services_by_bytes: top(current, 'services', 'bytes'),
    rejected_connections: totals.rejected_connections,
    new_assets: totals.new_assets,
    new_services: totals.new_services,
    series: metrics.map((metric) => ({ metric, points: points(series[metric], from, unit) })),
    ledger_size: query.ledger_size,
    ingest: {
      // The stored time applies only if no records were received since the last start; otherwise, `query.ingest`
      // has the time.
      ...(received === undefined ? {} : { last_received_at: new Date(received).toISOString() }),
      ...query.ingest,
    },
  };
}

const totalsOf = (rollup: Rollup, alerts: AlertTally): Dashboard['totals'] => ({
  network_events: shown(rollup.count('network_events')),
  dns_events: shown(rollup.count('dns_events')),
  alerts: alerts.total,
  bytes: shown(rollup.count('bytes')),
  rejected_connections: shown(rollup.count('rejected_connections')),
  nxdomain: shown(rollup.count('nxdomain')),
  new_assets: shown(rollup.count('new_assets')),
  new_services: shown(rollup.count('new_services')),
});

const different = (rollup: Rollup, of: DistinctCounter) => ({
  count: rollup.different(of),
  error: rollup.isExact(of) ? 0 : standardError,
});

/** Returns the largest entries by a measure, in order; equal entries are ordered by name. */
function top(rollup: Rollup, of: Top, measure: 'events' | 'bytes') {
  const rows = [...rollup.top[of].entries].filter(([, entry]) => entry[measure] > 0);
  rows.sort(([a, x], [b, y]) => y[measure] - x[measure] || (a < b ? -1 : 1));
  return rows.slice(0, shownRows).map(([key, entry]) => row(key, entry));
}

const row = (key: string, { events, eventsError, bytes, bytesError }: TopEntry) => ({
  key,
  events: shown(events),
  error: shown(eventsError),
  bytes: shown(bytes),
  bytes_error: shown(bytesError),
});
