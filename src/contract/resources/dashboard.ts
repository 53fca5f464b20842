import { alertStatuses, severities, windows } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, list, optional, part, real, shape, text, timestamp } from './fields.ts';

export const window = oneOf(windows, 'Length of the time window, which ends now.');

const top = (description: string) =>
  list(
    part('One row.', {
      key: text('Address, service (`tcp/443`) or domain.'),
      events: count('Number of events; an upper bound.'),
      error: count('Maximum by which `events` exceeds the true number; 0 if exact.'),
      bytes: optional(count('IP bytes in both directions; an upper bound.')),
      bytes_error: optional(count('Maximum by which `bytes` exceeds the true number; 0 if exact.')),
    }),
    description,
  );

const by = (keys: readonly string[], description: string) =>
  part(description, Object.fromEntries(keys.map((key) => [key, count(`Number of ${key} alerts.`)])));

/** A point of a time series: the bucket that starts at `at`. */
export const Point = part('One bucket of a series.', {
  at: timestamp('Start of the bucket.'),
  value: real('Value of the bucket.'),
});

/** Returns the schema of a number of distinct values, exact or estimated. */
export const different = (description: string) =>
  part(description, {
    count: count('Number of distinct values.'),
    error: real('Relative standard error of the count: about two thirds of estimates are within it. 0 if exact.', {
      minimum: 0,
    }),
  });

const totals = (description: string) =>
  part(description, {
    network_events: count('Number of network events.'),
    dns_events: count('Number of DNS events.'),
    alerts: count(
      'Number of alerts last seen in the window, or last changed if that was earlier; the same number as in the list with `from`.',
    ),
    bytes: count(
      'IP bytes of network events in both directions. A connection that is reported repeatedly counts once.',
    ),
    rejected_connections: count('Number of events of rejected connections.'),
    nxdomain: count('Number of DNS events with response code NXDOMAIN.'),
    new_assets: count('Number of assets first seen in the window.'),
    new_services: count('Number of services first seen in the window.'),
  });

export const Dashboard = shape('Dashboard', {
  window,
  from: timestamp(
    'Start of the window, rounded down to the minute, hour or day. Use it as `from` of a list to get the counted items. Events count at their start time, or at the time of receipt if that is earlier.',
  ),
  to: timestamp('End of the window: now.'),
  bucket_s: count('Width of the buckets of series, in seconds.'),
  totals: totals('Totals of the window.'),
  rates: part('Averages over the window.', {
    network_events: real('Network events per second.'),
    dns_events: real('DNS events per second.'),
    alerts: real('Alerts per hour.'),
  }),
  previous: part(
    'The previous window. It has exactly the requested length; the current window is longer by less than a bucket.',
    {
      from: timestamp('Start of the previous window.'),
      to: timestamp('End of the previous window, which is the start of the window.'),
      totals: totals('Totals of the previous window.'),
    },
  ),
  distinct: part('Numbers of distinct values in the window.', {
    sources: different('Distinct source addresses.'),
    destinations: different('Distinct destination addresses.'),
    domains: different('Distinct domains queried.'),
  }),
  alerts_by_severity: by(severities, 'Number of alerts last seen in the window.'),
  alerts_by_status: by(alertStatuses, 'Number of alerts last seen in the window.'),
  top_talkers: top('Sources with the most network events.'),
  top_destinations: top('Destinations with the most network events.'),
  top_services: top('Services with the most network events.'),
  top_domains: top(
    'Domains with the most DNS events: registered domains, and full names that have no registered domain.',
  ),
  top_talkers_by_bytes: top('Sources with the most bytes.'),
  top_destinations_by_bytes: top('Destinations with the most bytes.'),
  top_services_by_bytes: top('Services with the most bytes.'),
  rejected_connections: count('Number of events of rejected connections.'),
  new_assets: count('Number of assets first seen in the window.'),
  new_services: count('Number of services first seen in the window.'),
  series: list(
    part('A metric over time.', {
      metric: text('Name of the metric.'),
      points: list(Point, 'Buckets, oldest first.'),
    }),
    'Metrics per bucket: the totals, and the numbers of distinct sources, destinations and domains.',
  ),
  ledger_size: count('Number of entries in the transparency log.'),
  ingest: part('Ingest counters since the service started.', {
    accepted: count('Number of records stored.'),
    rejected: count('Number of invalid records.'),
    ignored: count('Number of records of kinds that are not stored.'),
    last_received_at: optional(
      timestamp(
        'Time at which a sensor last sent records; after a restart, the time of receipt of the newest stored event.',
      ),
    ),
  }),
});
export type Dashboard = Static<typeof Dashboard>;
