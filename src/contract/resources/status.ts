import { limits } from '../../limits.ts';
import { eventTables, expiryReasons, ledgerFaults, notStoredKinds } from '../vocabulary.ts';
import { witnessFailureKinds } from '../witness-failures.ts';
import { oneOf, type Static } from './common.ts';
import { count, flag, list, optional, part, real, shape, text, timestamp, uuid } from './fields.ts';
import { LedgerFindings, notStoredCounts, Regression } from './health.ts';

const WitnessStatus = part('Cosigning of checkpoints; absent if no witness is configured.', {
  quorum: flag('Whether the published checkpoint has the cosignatures that the witness policy requires.'),
  published_size: optional(count('Tree size of the published checkpoint; absent before the first one.')),
  published_age_s: optional(real('Age of the published checkpoint in seconds.', { minimum: 0 })),
  candidate_size: optional(count('Tree size for which cosignatures are requested, or were last requested.')),
  witnesses: list(
    part('One witness.', {
      name: text('Name of the witness in the policy.'),
      key_name: text('Name of the key of the witness.'),
      vkey: text('Verifier key (C2SP signed-note) with which its cosignatures are verified.'),
      size: optional(count('Last tree size that the witness cosigned, or claims to have cosigned.')),
      failing: optional(oneOf(witnessFailureKinds, 'Kind of the last failure, if no request has succeeded since.')),
      rollback_since: optional(
        timestamp(
          'Time since which the witness has reported that the log was rolled back or contradicts an earlier cosignature.',
        ),
      ),
      cosignatures: count('Number of cosignatures received since the service started.'),
      failures: list(
        part('A kind of failure.', {
          kind: oneOf(witnessFailureKinds, 'Kind of failure.'),
          times: count('Number of failures.'),
        }),
        'Failures since the service started.',
      ),
    }),
    'Configured witnesses.',
  ),
});
export type WitnessStatus = Static<typeof WitnessStatus>;

const scrub = (checked: string, description: string) =>
  part(description, {
    pass_began_at: timestamp('Start of the current or last pass.'),
    checked: count(`${checked} checked in this pass.`),
    total: count(`${checked} to check in this pass.`),
    last_pass_at: optional(timestamp('End of the last complete pass; absent before the first one.')),
    last_pass_damaged: optional(count('Number of damaged items found in the last complete pass.')),
  });
const LedgerScrub = scrub(
  'Entries',
  'Background check of all entries, hashes and tree heads; absent until it has started.',
);

const Verdict = part('Summary of the health of the service.', {
  well: flag(
    'Whether nothing needs attention. Limits that were reached do not count, because limits are expected to take effect.',
  ),
  text: text('Summary in one sentence.'),
  limits: optional(
    text('Limits that were reached since the service started, in one sentence; absent if no limit was reached.'),
  ),
});

const NotStored = part('Records and requests of sensors that were not stored since the service started.', {
  ...notStoredCounts,
  reasons: list(
    part('Data from one sensor that was not stored for one reason.', {
      kind: oneOf(notStoredKinds, 'Kind of data that was not stored: the count that includes it.'),
      sensor_id: optional(uuid('Identifier of the principal that sent it; absent if unknown.')),
      sensor: optional(text('Name of the principal.')),
      reason: text('Reason; for ignored records, their kind.'),
      times: count('Number of occurrences.'),
      last_at: timestamp('Time of the last occurrence.'),
      samples: list(
        text('Start of a record, with apparent secrets removed; for a request, its path.'),
        'Recent examples, newest first.',
      ),
    }),
    `The latest ${limits.maxNotStoredShown} reasons, newest first.`,
  ),
});
export type NotStored = Static<typeof NotStored>;

export const Status = shape('Status', {
  verdict: Verdict,
  version: text('Version of the program.'),
  started_at: timestamp('Time at which the process started.'),
  uptime_s: real('Uptime in seconds.', { minimum: 0 }),
  threads: list(
    part('A thread or pool.', {
      name: text('Name of the thread or pool.'),
      pending: count('Number of calls or tasks in progress or queued.'),
      in_flight_bytes: optional(count('Size of the calls in progress, in bytes.')),
      completed: optional(count('Number of tasks completed since the service started.')),
      restarts: optional(count('Number of restarts after a crash.')),
    }),
    'Threads and their queues.',
  ),
  rates: part('Rates averaged over the last minute.', {
    events_per_s: real('Events stored per second, over the last minute.', { minimum: 0 }),
    bytes_per_s: real('Bytes ingested per second as sent, over the last minute.', { minimum: 0 }),
    requests_per_s: real('HTTP requests answered per second, over the last minute.', { minimum: 0 }),
  }),
  store: part('Stored data.', {
    network_events: count('Number of stored network events.'),
    dns_events: count('Number of stored DNS events.'),
    alerts: count('Number of stored alerts.'),
    assets: count('Number of assets.'),
    services: count('Number of services.'),
    topology_edges: count('Number of edges between hosts in the topology.'),
    topology_runs: count('Number of sorted runs that store the edges; merging in the background keeps it low.'),
    blocks: count('Number of event blocks.'),
    uncounted_events: count(
      'Number of stored events that are not yet processed by detectors or included in assets, services and statistics.',
    ),
    bytes: count('Size of the database, in bytes.'),
    unused_bytes: count('Unused bytes in the database, which are reused before it grows.'),
    damaged_events: count('Number of damaged stored events, which are left out of responses.'),
    skipped_events: count(
      'Number of stored events that detectors, assets and statistics leave out, because processing them failed.',
    ),
    scrub: scrub('Blocks of events and rows of tables', 'Background check of everything stored.'),
  }),
  retention: part('Retention of events.', {
    max_age_ms: optional(count('Maximum age of events since receipt, in milliseconds; absent if unlimited.')),
    max_bytes: optional(
      count('Maximum size of events on disk in bytes, beyond which the oldest expire; absent if unlimited.'),
    ),
    event_bytes: count('Size of events on disk in bytes.'),
    clock_behind_ms: count(
      'Milliseconds by which the retention clock lags behind the host clock after a clock jump; otherwise 0.',
    ),
    oldest_network_event: optional(
      timestamp('Time at which the oldest block of network events was received; absent without network events.'),
    ),
    oldest_dns_event: optional(
      timestamp('Time at which the oldest block of DNS events was received; absent without DNS events.'),
    ),
    expired: list(
      part('Events of one table that expired for one reason.', {
        table: oneOf(eventTables, 'Table of the events.'),
        reason: oneOf(expiryReasons, 'Why the events expired: their age, or the total size.'),
        events: count('Number of expired events.'),
        bytes: count('Size of their blocks in bytes.'),
      }),
      'Events that expired since the database was created.',
    ),
  }),
  ledger: part('The transparency log.', {
    state: oneOf(['ok', 'degraded'], 'State of the log; a degraded log rejects appends.'),
    fault: optional(oneOf(ledgerFaults, 'Why the log is degraded.')),
    advice: optional(text('Action for the operator.')),
    regression: optional(Regression),
    findings: LedgerFindings,
    scrub: optional(LedgerScrub),
    size: count('Number of entries.'),
    head_age_s: optional(real('Age of the latest signed tree head in seconds; absent while the log is empty.')),
    sth_key_id: text('Identifier of the key that signs tree heads.'),
    sth_key_fingerprint: text('SHA-256 of the public key that signs tree heads, in hexadecimal.'),
    checkpoint_vkey: optional(
      text('Verifier key of checkpoints (C2SP signed-note), for witnesses and policies; absent if it is lost.'),
    ),
  }),
  outbox: part('Queue of critical events for the log.', {
    rows: count('Number of critical events that are not yet in the log.'),
    limit: count('Number of waiting critical events at which changes that must be logged are rejected.'),
  }),
  sealing: optional(
    part('Sealing of events; absent while it is disabled.', {
      sealed_at: timestamp('Last time at which all stored events were sealed; before that, the start of the service.'),
      lag_s: real('Time since sealed_at, in seconds.', { minimum: 0 }),
    }),
  ),
  witnesses: optional(WitnessStatus),
  scans: part('Discovery scans.', {
    queued: count('Number of queued scans.'),
    running: count('Number of running scans.'),
  }),
  sockets: part('WebSocket clients.', {
    connections: count('Number of WebSocket connections.'),
    subscriptions: count('Number of subscriptions.'),
  }),
  not_stored: NotStored,
  limits_reached: list(
    part('A limit that was reached.', {
      limit: text('Name of the limit.'),
      times: count('Number of times since the service started.'),
      meaning: text('Effect of reaching the limit.'),
      detectors: optional(
        list(
          part('A behaviour detector.', {
            detector: text('Identifier of the detector.'),
            times: count('Number of times.'),
          }),
          'Behaviour detectors that reached the limit since they were started.',
        ),
      ),
    }),
    'Limits that were reached.',
  ),
  warnings: list(text('A warning.'), 'Warnings for the operator.'),
  ready: flag('Whether the service is ready; false while it is starting or stopping.'),
});
export type Status = Static<typeof Status>;
