import { backupStates, privateKeyStates } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, hex32, optional, part, shape, text, timestamp } from './fields.ts';
import { SignedTreeHead } from './transparency.ts';

export const Backup = shape('Backup', {
  state: oneOf(backupStates, 'State of the backup. completed: complete, verified, and at its final path.'),
  error: optional(text('Why the backup failed.')),
  path: optional(text('Path on the host of the service; only for a completed backup.')),
  size: count('Size in bytes; while the backup is running, the bytes written so far.'),
  events: optional(count('Number of events in the backup.')),
  alerts: optional(count('Number of alerts in the backup.')),
  private_keys: optional(
    oneOf(
      privateKeyStates,
      'Whether the backup has the private keys of the log: none, encrypted in keys.age to the recipients in backup.recipient, or ' +
        'included in key files, as in backups of earlier versions. Only for a completed backup.',
    ),
  ),
  sth: optional(SignedTreeHead),
  transparency: optional(
    part('Position of the backup.created entry, which has the same id, in the log; if known.', {
      leaf_index: count('Leaf index of the entry.'),
      tree_size: count('Size of a tree that contains the entry.'),
      leaf_hash: hex32('Leaf hash of the entry.'),
    }),
  ),
  created_at: timestamp('Time at which the backup started.'),
  finished_at: optional(timestamp('Time at which the backup completed or failed.')),
});
export type Backup = Static<typeof Backup>;
