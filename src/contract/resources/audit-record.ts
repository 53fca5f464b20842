import { auditOutcomes, maxEntryIds } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { address, list, optional, ordinal, part, shape, text, timestamp, uuid } from './fields.ts';

/**
 * Who did or read what. An entry of the transparency log, whose form has no room for a request id, is named by the
 * record of the call that caused it: `entry_id` of the list finds it.
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
  reason: optional(
    text('Why records of a sensor were rejected: up to 8 reasons and `other reasons`, separated by `; `.'),
  ),
  count: optional(
    ordinal(
      'Calls that this record stands for, with a reason records that were rejected: those of one caller, of its minute, past what gets records of their own. ' +
        'The other members are those of the first. Absent for one call.',
    ),
  ),
  entry_ids: optional(
    list(
      uuid('An entry.'),
      'The entries of the transparency log that the call caused, that of a backup as soon as it is complete.' +
        ' Not of a count.',
      { maxItems: maxEntryIds },
    ),
  ),
  time: timestamp('When it was answered; of a count, when the minute was over.'),
});
export type AuditRecord = Static<typeof AuditRecord>;
