import { oneOf, type Static } from './common.ts';
import { address, optional, part, shape, text, timestamp } from './fields.ts';

/** Who did or read what. */
export const AuditRecord = shape('AuditRecord', {
  actor: text('Who: the id of a principal, or anonymous.'),
  operation: text('Operation id of the OpenAPI document.'),
  resource: optional(part({ type: text('Kind.'), id: text('Identifier.') }, 'On what.')),
  request_id: text('X-Request-Id of the answer.'),
  source_address: address('From where.'),
  outcome: oneOf(['success', 'refused', 'failed'], { description: 'How it ended.' }),
  time: timestamp('When.'),
});
export type AuditRecord = Static<typeof AuditRecord>;
