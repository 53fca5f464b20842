import { oneOf, type Static } from './common.ts';
import { address, optional, ordinal, part, shape, text, timestamp } from './fields.ts';

export const auditOutcomes = ['success', 'refused', 'failed'] as const;

/**
 * Who did or read what. An entry of the transparency log, whose form has no room for a request id, leads here by its
 * `actor`, by its subject, which is the `resource`, and by `occurred_at`, which is not after `time`: the first record
 * that fits is that of the request. Sessions that end with a password or a principal are found by actor and time.
 */
export const AuditRecord = shape('AuditRecord', {
  actor: text('Who: the id of a principal, or anonymous.'),
  actor_name: optional(text('Its name at that time; of a login, the name that was given.')),
  operation: text('Operation id of the OpenAPI document; several, where calls of many are counted together.'),
  resource: optional(part({ type: text('Kind.'), id: text('Identifier.') }, 'On what.')),
  request_id: text('X-Request-Id of the answer.'),
  source_address: address('From where; :: where calls from many addresses are counted together.'),
  outcome: oneOf(auditOutcomes, {
    description: 'success; refused: no credentials, bad ones, or not allowed; failed: anything else.',
  }),
  code: optional(
    text(
      'Error code. WORKER_LOST and CANCELLED: nobody was told whether a change was made, and it may have been.',
    ),
  ),
  count: optional(
    ordinal(
      'Calls that this record stands for: those of one caller, of its minute, past what gets records of their own. ' +
        'The other members are those of the first. Absent for one call.',
    ),
  ),
  time: timestamp('When it was answered; of a count, when the minute was over.'),
});
export type AuditRecord = Static<typeof AuditRecord>;
