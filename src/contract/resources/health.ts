import { ledgerFaults, ledgerFindings, regressionEvents } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, list, optional, part, shape, text, timestamp } from './fields.ts';

/** How the log came to its current life. */
export const Regression = part(
  {
    at: timestamp('When.'),
    event: oneOf(regressionEvents, {
      description:
        'Restored from a backup, rebuilt with an accepted loss, replaced by a new log, or continued in a copied data folder.',
    }),
    from_size: count('Leaves of the largest head known before.'),
    to_size: count('Leaves that the log continued from.'),
  },
  'The start of the current life of the transparency log; absent in the first life.',
);

/** Open conditions of the log and of siem.mdb (`store_damaged`, `events_altered`, `sealing_stopped`), one for each code. */
export const LedgerFindings = list(
  part(
    {
      code: oneOf(ledgerFindings, { description: 'The condition.' }),
      message: text('The condition and the action that it needs, in a sentence.'),
      since: timestamp('When it was detected.'),
    },
    'One condition.',
  ),
  'Conditions of the transparency log, and `store_damaged`, `events_altered` and `sealing_stopped` of stored events and alerts, that an operator must look at; appends may go on.',
);

/** How often since the start. */
export const notStoredCounts = {
  rejected: count('Records that were rejected.'),
  ignored: count('Records of kinds that are not stored; detection rules saw them.'),
  refused: count('Requests that were refused as a whole, except those that the sender is to repeat.'),
  credentials: count('Requests whose credentials were missing, bad or not sufficient.'),
};

/** Bare, without an envelope: load balancers and supervisors read it. */
export const Health = shape('Health', {
  status: oneOf(['ok', 'degraded', 'unavailable'], {
    description:
      'degraded serves and ingests, but refuses what must be logged; unavailable is answered with 503.',
  }),
  version: text('Version of the program.'),
  ledger: oneOf(['ok', ...ledgerFaults, 'unknown'], {
    description: 'State of the transparency log; unknown while its thread cannot tell.',
  }),
  advice: optional(text('What the operator is to do.')),
  regression: optional(Regression),
  findings: optional(LedgerFindings),
  not_stored: part(
    notStoredCounts,
    'Records and requests of sensors that were not stored, since the start; the status has the reasons.',
  ),
  timestamp: timestamp('Time of the answer.'),
});
export type Health = Static<typeof Health>;
