import { eventTables } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { anyObject, count, hex32, list, ordinal, part, shape, text, uuid } from './fields.ts';
import { ProofBundle } from './transparency.ts';

/** A stored event with all that shows offline that the log covers it. */
export const EventProof = shape('EventProof', {
  event: part(
    {
      id: uuid('Its id.'),
      type: text('network_event or dns_event.'),
      attributes: anyObject('Its attributes, as the operation that gets the event returns them.'),
    },
    'The event.',
  ),
  seal: part(
    {
      entry_id: uuid('The entry of kind events.sealed that covers the event.'),
      table: oneOf(eventTables, { description: 'The table of the event.' }),
      first_seq: ordinal('Commit sequence of the first event of the range.'),
      rows: ordinal('Events of the range.'),
      sequence: ordinal('Commit sequence of the event.'),
      leaf_index: count('Which piece of the range has the event.'),
      tree_size: ordinal('Pieces of the range.'),
      audit_path: list(
        hex32('A node.'),
        'Siblings from the piece to events_root of the range in the entry (RFC 6962, section 2.1.1).',
      ),
      piece: text('The canonical bytes of the piece (base64): the event and up to 63 beside it.'),
    },
    'The place of the event in the entry.',
  ),
  proof: ProofBundle,
});
export type EventProof = Static<typeof EventProof>;
