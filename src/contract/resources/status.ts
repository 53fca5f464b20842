import { oneOf, type Static } from './common.ts';
import { count, flag, list, optional, part, real, shape, text, timestamp } from './fields.ts';

export const Status = shape('Status', {
  version: text('Version of the program.'),
  started_at: timestamp('When the process started.'),
  uptime_s: real('Since then, in seconds.', { minimum: 0 }),
  threads: list(
    part(
      {
        name: text('Which worker or pool.'),
        pending: count('Calls or tasks under way or waiting.'),
        in_flight_bytes: optional(count('Bytes of calls under way.')),
        completed: optional(count('Tasks done since the start.')),
        restarts: optional(count('Times it was lost and came back.')),
      },
      'One thread or pool.',
    ),
    'Threads and their queues.',
  ),
  rates: part(
    {
      events_per_s: real('Events stored, over the last minute.', { minimum: 0 }),
      bytes_per_s: real('Bytes ingested as sent, over the last minute.', { minimum: 0 }),
      requests_per_s: real('HTTP requests answered, over the last minute.', { minimum: 0 }),
    },
    'Averages of the last minute, per second.',
  ),
  store: part(
    {
      network_events: count('Network events stored.'),
      dns_events: count('DNS events stored.'),
      alerts: count('Alerts stored.'),
      blocks: count('Event blocks.'),
      bytes: count('Size of the database, in bytes.'),
    },
    'What is stored.',
  ),
  ledger: part(
    {
      state: oneOf(['ok', 'degraded'], { description: 'degraded refuses appends.' }),
      fault: optional(oneOf(['rollback', 'corrupt', 'lost'], { description: 'Why it is degraded.' })),
      advice: optional(text('What the operator is to do.')),
      size: count('Entries.'),
      head_age_s: optional(real('Age of the latest signed head, in seconds; absent while empty.')),
      sth_key_id: text('Key that signs tree heads.'),
      sth_key_fingerprint: text('SHA-256 of that public key, in hexadecimal.'),
    },
    'The transparency log.',
  ),
  outbox: part(
    {
      rows: count('Critical events on their way to the log.'),
      limit: count('Past this, changes that must be logged are refused.'),
    },
    'What the log has not got yet.',
  ),
  sockets: part(
    {
      connections: count('WebSocket connections.'),
      subscriptions: count('Subscriptions on them.'),
    },
    'Live readers.',
  ),
  limits_reached: list(
    part(
      { limit: text('Which limit.'), times: count('How often since the start.') },
      'A limit that was reached.',
    ),
    'Limits that refused something.',
  ),
  ready: flag('False while starting or stopping.'),
});
export type Status = Static<typeof Status>;
