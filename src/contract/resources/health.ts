import { oneOf, type Static } from './common.ts';
import { optional, shape, text, timestamp } from './fields.ts';

/** Bare, without an envelope: load balancers and supervisors read it. */
export const Health = shape('Health', {
  status: oneOf(['ok', 'degraded', 'unavailable'], {
    description:
      'degraded serves and ingests, but refuses what must be logged; unavailable is answered with 503.',
  }),
  version: text('Version of the program.'),
  ledger: oneOf(['ok', 'rollback', 'corrupt', 'lost', 'unknown'], {
    description: 'State of the transparency log; unknown while its thread cannot tell.',
  }),
  advice: optional(text('What the operator is to do.')),
  timestamp: timestamp('Time of the answer.'),
});
export type Health = Static<typeof Health>;
