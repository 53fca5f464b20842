import { ledgerFaults, ledgerFindings, regressionEvents } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, list, optional, part, shape, text, timestamp } from './fields.ts';

/** How the log came to its current life. */
export const Regression = part(
  {
    at: timestamp('When.'),
    event: oneOf(regressionEvents, {
      description:
        'Restored from a backup, rebuilt with an accepted loss, begun anew, or continued in a copied data folder.',
    }),
    from_size: count('Leaves of the largest head known before.'),
    to_size: count('Leaves that the log continued from.'),
  },
  'The start of the current life of the transparency log; absent in the first life.',
);

/** Open conditions of the log, one for each code. */
export const LedgerFindings = list(
  part(
    {
      code: oneOf(ledgerFindings, { description: 'The condition.' }),
      message: text('The condition and the action that it needs, in a sentence.'),
      since: timestamp('When it was detected.'),
    },
    'One condition.',
  ),
  'Conditions of the transparency log that an operator must look at; appends may go on.',
);

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
  timestamp: timestamp('Time of the answer.'),
});
export type Health = Static<typeof Health>;
