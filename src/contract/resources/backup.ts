import { backupStates, privateKeyStates } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, hex32, optional, part, shape, text, timestamp } from './fields.ts';
import { SignedTreeHead } from './transparency.ts';

export const Backup = shape('Backup', {
  state: oneOf(backupStates, {
    description: 'completed: whole, verified, and under its own name.',
  }),
  error: optional(text('Why it failed.')),
  path: optional(text('Where it lies on the host of the service; only of a completed one.')),
  size: count('In bytes; while it is running, those written so far.'),
  events: optional(count('Events in it.')),
  alerts: optional(count('Alerts in it.')),
  private_keys: optional(
    oneOf(privateKeyStates, {
      description:
        'Private keys of the log in it: none, encrypted in keys.age to the recipients in backup.recipient, or ' +
        'included in key files, as in backups of earlier versions. Only of a completed one.',
    }),
  ),
  sth: optional(SignedTreeHead),
  transparency: optional(
    part(
      {
        leaf_index: count('Position of the entry.'),
        tree_size: count('Size of a tree that has it.'),
        leaf_hash: hex32('Hash of the leaf.'),
      },
      'Where its backup.created entry, of the same id, stands in the log; where that is at hand.',
    ),
  ),
  created_at: timestamp('When it was begun.'),
  finished_at: optional(timestamp('When it was completed or failed.')),
});
export type Backup = Static<typeof Backup>;
