import { ledgerFaults, ledgerFindings, regressionEvents } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, list, optional, part, shape, text, timestamp } from './fields.ts';

/** The start of the current life of the log. */
export const Regression = part('The start of the current life of the transparency log; absent in the first life.', {
  at: timestamp('Time of the event.'),
  event: oneOf(
    regressionEvents,
    'Restored from a backup, rebuilt with an accepted loss, replaced by a new log, or continued in a copied data folder.',
  ),
  from_size: count('Tree size of the largest known head of the previous life.'),
  to_size: count('Tree size from which the log continued.'),
});

/**
 * Open conditions of the log and of siem.mdb (`store_damaged`, `events_skipped`, `events_altered`, `sealing_stopped`), one
 * for each code.
 */
export const LedgerFindings = list(
  part('One condition.', {
    code: oneOf(ledgerFindings, 'Code of the condition.'),
    message: text('Description of the condition and the required action.'),
    since: timestamp('Time at which the condition was detected.'),
  }),
  'Conditions that an operator must check: of the transparency log, and `store_damaged`, `events_skipped`, `events_altered` and `sealing_stopped` of stored events and alerts. Appends may continue.',
);

/** Counters since the service started. */
export const notStoredCounts = {
  rejected: count('Number of rejected records.'),
  ignored: count('Number of records of kinds that are not stored; detection rules evaluated them.'),
  refused: count('Number of requests rejected as a whole, except those that the sender should retry.'),
  credentials: count('Number of requests with missing, invalid or insufficient credentials.'),
};

/** The health of the service. Not wrapped in an envelope, because load balancers and supervisors read it. */
export const Health = shape('Health', {
  status: oneOf(
    ['ok', 'degraded', 'unavailable'],
    'degraded: the service queries and ingests but rejects changes that must be logged, or a witness reports that the log was rolled back (finding `witness_rollback`, with `ledger` ok). unavailable: the response has status 503.',
  ),
  version: text('Version of the program.'),
  ledger: oneOf(
    ['ok', ...ledgerFaults, 'unknown'],
    'State of the transparency log; unknown while its thread does not respond.',
  ),
  advice: optional(text('Action for the operator.')),
  regression: optional(Regression),
  findings: optional(LedgerFindings),
  not_stored: part(
    'Records and requests of sensors that were not stored since the service started; the system status has the reasons.',
    notStoredCounts,
  ),
  timestamp: timestamp('Time of the response.'),
});
export type Health = Static<typeof Health>;
