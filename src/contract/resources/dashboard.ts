import { alertStatuses, severities, windows } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, list, optional, part, real, shape, text, timestamp } from './fields.ts';

export const window = oneOf(windows, { description: 'Length of time looked at, up to now.' });

const top = (description: string) =>
  list(
    part(
      {
        key: text('Address, service (`tcp/443`) or domain.'),
        events: count('Events; never too few.'),
        error: count('By how much `events` may be too many; 0 where it is exact.'),
        bytes: optional(count('IP bytes, both ways; never too few.')),
        bytes_error: optional(count('By how much `bytes` may be too many; 0 where it is exact.')),
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

/** A number of different ones, exact or estimated. */
export const different = (description: string) =>
  part(
    {
      count: count('How many different ones.'),
      error: real(
        'Standard error, as a part of the count: two of three estimates are no further off. 0 where it is exact.',
        { minimum: 0 },
      ),
    },
    description,
  );

const totals = (description: string) =>
  part(
    {
      network_events: count('Network events.'),
      dns_events: count('DNS events.'),
      alerts: count(
        'Alerts last seen in it, or last changed where that was earlier; as many as the list has of `from`.',
      ),
      bytes: count(
        'IP bytes of network events, both ways; those of a connection that is reported again, once.',
      ),
      rejected_connections: count('Events of connections that were refused.'),
      nxdomain: count('DNS events that say that a name does not exist.'),
      new_assets: count('Assets first seen in it.'),
      new_services: count('Services first seen in it.'),
    },
    description,
  );

export const Dashboard = shape('Dashboard', {
  window,
  from: timestamp(
    'Start of the window: that of the minute, hour or day in which it began; as `from` of a list it shows what is counted here. Events count at the time of their start, or when they were received where that was earlier.',
  ),
  to: timestamp('End of the window: now.'),
  bucket_s: count('Width of the buckets of series, in seconds.'),
  totals: totals('Within the window.'),
  rates: part(
    { network_events: real('Per second.'), dns_events: real('Per second.'), alerts: real('Per hour.') },
    'Averages over the window.',
  ),
  previous: part(
    {
      from: timestamp('Its start.'),
      to: timestamp('Its end, the start of the window.'),
      totals: totals('Within it.'),
    },
    'The window before: as long as is asked for, which this one exceeds by less than a bucket.',
  ),
  distinct: part(
    {
      sources: different('Addresses of originators.'),
      destinations: different('Addresses of responders.'),
      domains: different('Domains asked for.'),
    },
    'How many different ones there were in the window.',
  ),
  alerts_by_severity: by(severities, 'Alerts last seen in the window.'),
  alerts_by_status: by(alertStatuses, 'Alerts last seen in the window.'),
  top_talkers: top('Busiest originators, by network events.'),
  top_destinations: top('Busiest responders, by network events.'),
  top_services: top('Busiest services, by network events.'),
  top_domains: top(
    'Domains asked for most, by DNS events: registered ones, and whole names that belong to none.',
  ),
  top_talkers_by_bytes: top('Originators with most bytes.'),
  top_destinations_by_bytes: top('Responders with most bytes.'),
  top_services_by_bytes: top('Services with most bytes.'),
  rejected_connections: count('Events of connections that were refused.'),
  new_assets: count('Assets first seen in the window.'),
  new_services: count('Services first seen in the window.'),
  series: list(
    part(
      { metric: text('Which metric.'), points: list(Point, 'Its buckets, oldest first.') },
      'A metric over time.',
    ),
    'Metrics per bucket: the totals, and the numbers of different sources, destinations and domains.',
  ),
  ledger_size: count('Entries of the transparency log.'),
  ingest: part(
    {
      accepted: count('Records stored.'),
      rejected: count('Bad records.'),
      ignored: count('Records of kinds that are not stored.'),
      last_received_at: optional(
        timestamp('When a sensor last sent: since the start, or the newest event that is stored.'),
      ),
    },
    'Health of ingest since the start.',
  ),
});
export type Dashboard = Static<typeof Dashboard>;
