import type { Static } from './common.ts';
import { count, optional, shape, text, timestamp } from './fields.ts';
import { SignedTreeHead } from './transparency.ts';

export const Backup = shape('Backup', {
  path: text('Where it lies, under the configured folder.'),
  size: count('In bytes.'),
  sth: optional(SignedTreeHead),
  created_at: timestamp('When it was made.'),
});
export type Backup = Static<typeof Backup>;
