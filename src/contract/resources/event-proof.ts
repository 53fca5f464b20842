import { eventTables } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { anyObject, count, hex32, list, ordinal, part, shape, text, uuid } from './fields.ts';
import { ProofBundle } from './transparency.ts';

/** A stored event with an offline proof that the log covers it. */
export const EventProof = shape('EventProof', {
  event: part('The event.', {
    id: uuid('Identifier of the event.'),
    type: text('Type of the event: network_event or dns_event.'),
    attributes: anyObject('Attributes of the event, as the operation that gets the event returns them.'),
  }),
  seal: part('Position of the event in the entry.', {
    entry_id: uuid('Identifier of the events.sealed entry that covers the event.'),
    table: oneOf(eventTables, 'Table of the event.'),
    first_seq: ordinal('Commit sequence of the first event of the range.'),
    rows: ordinal('Number of events in the range.'),
    sequence: ordinal('Commit sequence of the event.'),
    leaf_index: count('Index of the piece of the range that contains the event.'),
    tree_size: ordinal('Number of pieces in the range.'),
    audit_path: list(
      hex32('A node.'),
      'Siblings from the piece to events_root of the range in the entry (RFC 6962, section 2.1.1).',
    ),
    piece: text('Canonical bytes of the piece in base64: the event and up to 63 neighbouring events.'),
  }),
  proof: ProofBundle,
});
export type EventProof = Static<typeof EventProof>;
