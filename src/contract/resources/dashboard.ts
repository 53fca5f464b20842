import { oneOf, type Static } from './common.ts';
import { count, list, optional, part, real, shape, text, timestamp } from './fields.ts';

export const windows = ['15m', '1h', '24h', '7d', '30d'] as const;
export const window = oneOf(windows, { description: 'Length of time looked at, up to now.' });

const top = (description: string) =>
  list(
    part(
      {
        key: text('Address, service or name.'),
        events: count('Events.'),
        bytes: optional(count('IP bytes, both ways.')),
      },
      'One row.',
    ),
    description,
  );

const by = (keys: readonly string[], description: string) =>
  part(Object.fromEntries(keys.map((key) => [key, count(`Those that are ${key}.`)])), description);

/** A point of a series: the bucket that starts at `at`. */
export const Point = part(
  { at: timestamp('Start of the bucket.'), value: real('Its value.') },
  'One bucket of a series.',
);

export const Dashboard = shape('Dashboard', {
  window,
  from: timestamp('Start of the window.'),
  to: timestamp('End of the window.'),
  totals: part(
    { network_events: count('Network events.'), dns_events: count('DNS events.'), alerts: count('Alerts.') },
    'Within the window.',
  ),
  rates: part(
    { network_events: real('Per second.'), dns_events: real('Per second.'), alerts: real('Per hour.') },
    'Averages over the window.',
  ),
  alerts_by_severity: by(['informational', 'low', 'medium', 'high', 'critical'], 'Alerts of the window.'),
  alerts_by_status: by(['new', 'in_progress', 'resolved', 'suppressed', 'archived'], 'Alerts of the window.'),
  top_talkers: top('Busiest originators.'),
  top_destinations: top('Busiest responders.'),
  top_services: top('Busiest services.'),
  top_domains: top('Names asked for most.'),
  rejected_connections: count('Connections refused or reset before they were open.'),
  new_assets: count('Assets first seen in the window.'),
  new_services: count('Services first seen in the window.'),
  series: list(
    part(
      { metric: text('Which metric.'), points: list(Point, 'Its buckets, oldest first.') },
      'A metric over time.',
    ),
    'Metrics per bucket.',
  ),
  ledger_size: count('Entries of the transparency log.'),
  ingest: part(
    {
      accepted: count('Records stored.'),
      rejected: count('Bad records.'),
      ignored: count('Records of kinds that are not stored.'),
      last_received_at: optional(timestamp('When a sensor last sent.')),
    },
    'Health of ingest since the start.',
  ),
});
export type Dashboard = Static<typeof Dashboard>;
