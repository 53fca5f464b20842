import { limits } from '../../limits.ts';
import { eventTables, expiryReasons, ledgerFaults, notStoredKinds } from '../vocabulary.ts';
import { witnessFailureKinds } from '../witness-failures.ts';
import { oneOf, type Static } from './common.ts';
import { count, flag, list, optional, part, real, shape, text, timestamp, uuid } from './fields.ts';
import { LedgerFindings, notStoredCounts, Regression } from './health.ts';

const WitnessStatus = part(
  {
    quorum: flag('Whether the published checkpoint has the cosignatures that the policy wants.'),
    published_size: optional(count('Tree size of the published checkpoint; absent while there is none.')),
    published_age_s: optional(
      real('Time since that checkpoint was taken from the log, in seconds.', { minimum: 0 }),
    ),
    candidate_size: optional(count('Tree size that the witnesses are asked for, or were last.')),
    witnesses: list(
      part(
        {
          name: text('Its name in the policy.'),
          key_name: text('Name of its key.'),
          vkey: text('The verifier key (C2SP signed-note) that its cosignatures are held to.'),
          size: optional(count('Tree size that it cosigned last, or claims to have cosigned.')),
          failing: optional(
            oneOf(witnessFailureKinds, { description: 'How it failed last, if nothing succeeded since.' }),
          ),
          rollback_since: optional(
            timestamp('Since when it reports that the log went back, or contradicts what it cosigned.'),
          ),
          cosignatures: count('Cosignatures got since the start.'),
          failures: list(
            part(
              {
                kind: oneOf(witnessFailureKinds, { description: 'How it failed.' }),
                times: count('How often.'),
              },
              'A kind of failure.',
            ),
            'Failures since the start.',
          ),
        },
        'One witness.',
      ),
      'The witnesses that are asked.',
    ),
  },
  'Cosigning of checkpoints; absent where no witness is configured.',
);
export type WitnessStatus = Static<typeof WitnessStatus>;

const scrub = (checked: string, description: string) =>
  part(
    {
      pass_began_at: timestamp('When the pass that is under way, or was last, began.'),
      checked: count(`${checked} that this pass has checked.`),
      total: count(`${checked} that this pass checks.`),
      last_pass_at: optional(timestamp('When the last whole pass ended; absent before the first.')),
      last_pass_damaged: optional(count('Damaged items that the last whole pass found.')),
    },
    description,
  );
const LedgerScrub = scrub(
  'Entries',
  'The check of all entries, hashes and heads in the background; absent until it has begun.',
);

const Verdict = part(
  {
    well: flag(
      'Whether nothing needs to be looked at. Limits that were reached do not count: they are for that.',
    ),
    text: text('The same in a sentence.'),
    limits: optional(text('Which limits were reached since the start, in a sentence; absent for none.')),
  },
  'How the service is, in short.',
);

const NotStored = part(
  {
    ...notStoredCounts,
    reasons: list(
      part(
        {
          kind: oneOf(notStoredKinds, { description: 'Which of the counts it is part of.' }),
          sensor_id: optional(uuid('The principal that sent it; absent where that is not known.')),
          sensor: optional(text('Its name.')),
          reason: text('Why; of ignored records their kind.'),
          times: count('How often.'),
          last_at: timestamp('When it happened last.'),
          samples: list(
            text(
              'The beginning of a record, with what looks like a secret left out; of a request its address.',
            ),
            'Recent examples, the newest first.',
          ),
        },
        'What one sensor sent and was not stored, for one reason.',
      ),
      `The latest ${limits.maxNotStoredShown}, the newest first.`,
    ),
  },
  'Records and requests of sensors that were not stored, since the start.',
);
export type NotStored = Static<typeof NotStored>;

export const Status = shape('Status', {
  verdict: Verdict,
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
      assets: count('Assets known.'),
      services: count('Services known.'),
      topology_edges: count('Edges of the topology, among hosts.'),
      blocks: count('Event blocks.'),
      uncounted_events: count(
        'Events stored that detectors have not seen yet, and that are not in assets, services and figures.',
      ),
      bytes: count('Size of the database, in bytes.'),
      unused_bytes: count('Bytes of it that nothing takes up: they are used before it grows.'),
      damaged_events: count('Stored events that are damaged and left out of answers.'),
      scrub: scrub(
        'Blocks of events and rows of tables',
        'The check of everything stored, in the background.',
      ),
    },
    'What is stored.',
  ),
  retention: part(
    {
      max_age_ms: optional(
        count('Events that were received longer ago go, in milliseconds; absent without such a bound.'),
      ),
      max_bytes: optional(
        count('Past as many bytes on disk the oldest events go; absent without such a bound.'),
      ),
      event_bytes: count('Bytes that events take up on disk.'),
      clock_behind_ms: count(
        'How far the time that age goes by is behind the host’s clock, which leapt, in milliseconds; else 0.',
      ),
      oldest_network_event: optional(
        timestamp('When the oldest block of network events was received; absent where there is none.'),
      ),
      oldest_dns_event: optional(
        timestamp('When the oldest block of DNS events was received; absent where there is none.'),
      ),
      expired: list(
        part(
          {
            table: oneOf(eventTables, { description: 'Which events.' }),
            reason: oneOf(expiryReasons, { description: 'They were too old, or all were too many.' }),
            events: count('How many.'),
            bytes: count('Bytes of their blocks.'),
          },
          'What went of one table for one reason.',
        ),
        'What went since the database was made.',
      ),
    },
    'How long events are kept.',
  ),
  ledger: part(
    {
      state: oneOf(['ok', 'degraded'], { description: 'degraded refuses appends.' }),
      fault: optional(oneOf(ledgerFaults, { description: 'Why it is degraded.' })),
      advice: optional(text('What the operator is to do.')),
      regression: optional(Regression),
      findings: LedgerFindings,
      scrub: optional(LedgerScrub),
      size: count('Entries.'),
      head_age_s: optional(real('Age of the latest signed head, in seconds; absent while empty.')),
      sth_key_id: text('Key that signs tree heads.'),
      sth_key_fingerprint: text('SHA-256 of that public key, in hexadecimal.'),
      checkpoint_vkey: optional(
        text(
          'Verifier key of checkpoints (C2SP signed-note), for witnesses and policies; absent where it is lost.',
        ),
      ),
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
  sealing: optional(
    part(
      {
        sealed_at: timestamp('When everything stored was sealed last; until then the start.'),
        lag_s: real('Time since then, in seconds.', { minimum: 0 }),
      },
      'Sealing of events; absent while it is off.',
    ),
  ),
  witnesses: optional(WitnessStatus),
  scans: part({ queued: count('Scans that wait.'), running: count('Scans that run.') }, 'Discovery scans.'),
  sockets: part(
    {
      connections: count('WebSocket connections.'),
      subscriptions: count('Subscriptions on them.'),
    },
    'Live readers.',
  ),
  not_stored: NotStored,
  limits_reached: list(
    part(
      {
        limit: text('Which limit.'),
        times: count('How often since the start.'),
        meaning: text('What became of what went beyond it.'),
        detectors: optional(
          list(
            part(
              { detector: text('Id of the detector.'), times: count('How often.') },
              'A behaviour detector.',
            ),
            'Behaviour detectors that reached it since the store thread started.',
          ),
        ),
      },
      'A limit that was reached.',
    ),
    'Limits that refused something.',
  ),
  warnings: list(text('One sentence.'), 'What an operator should look at.'),
  ready: flag('False while starting or stopping.'),
});
export type Status = Static<typeof Status>;
