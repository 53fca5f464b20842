import { auditOutcomes, maxEntryIds } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { address, list, optional, ordinal, part, shape, text, timestamp, uuid } from './fields.ts';

/**
 * One audited call. Entries of the transparency log carry no request id; the audit record of a call lists the
 * entries that it caused, and the filter `entry_id` finds the record.
 */
export const AuditRecord = shape('AuditRecord', {
  actor: text('Identifier of the principal, or anonymous.'),
  actor_name: optional(text('Name of the principal at that time; for a login, the username that was entered.')),
  operation: text(
    'Operation id of the OpenAPI document; several ids if calls of many operations are counted together.',
  ),
  resource: optional(
    part('Resource concerned.', {
      type: text('Type of the resource.'),
      id: text('Identifier of the resource.'),
    }),
  ),
  request_id: text('X-Request-Id of the response.'),
  source_address: address('Address of the caller; :: if calls from many addresses are counted together.'),
  outcome: oneOf(
    auditOutcomes,
    'success; refused: credentials missing, invalid or insufficient; failed: any other error.',
  ),
  code: optional(
    text(
      'Error code. With WORKER_LOST and CANCELLED the caller did not learn whether the change was made; it may have been.',
    ),
  ),
  reason: optional(
    text(
      'Why records of a sensor were rejected, or `ignored:` with the kind of records that are not stored: up to 8 reasons and `other reasons`, separated by `; `.',
    ),
  ),
  sample: optional(text('Beginning of the first rejected record of a sensor, without secrets.')),
  count: optional(
    ordinal(
      'Number of calls that this audit record aggregates; if it has a reason, the number of records. Includes the calls of one caller within one minute (within one hour for ignored records) beyond the limit for individual audit records. ' +
        'The other attributes are those of the first call. Absent for a single call.',
    ),
  ),
  entry_ids: optional(
    list(
      uuid('Identifier of an entry.'),
      'Entries of the transparency log that the call caused; for a backup, after it has completed.' +
        ' Absent if there is a count.',
      { maxItems: maxEntryIds },
    ),
  ),
  time: timestamp('Time of the response; for a count, the end of the minute or hour.'),
});
export type AuditRecord = Static<typeof AuditRecord>;
