import { oneOf, type Static } from './common.ts';
import { count, optional, shape, timestamp, uuid } from './fields.ts';

export const keyPurposes = [
  'transparency-sth',
  'event-signing',
  'access-token',
  'checkpoint',
  'witness',
] as const;
export const keyStates = ['pending', 'active', 'retired', 'revoked'] as const;

export const Key = shape('Key', {
  kid: uuid('Names the key; equal to the resource id.'),
  purpose: oneOf(keyPurposes, { description: 'The one thing that it signs.' }),
  state: oneOf(keyStates, { description: 'Where it is in its life.' }),
  created_at: timestamp('When it was made.'),
  activated_at: optional(timestamp('When it began to sign.')),
  retired_at: optional(timestamp('When it stopped.')),
  from_size: optional(count('Tree size from which it signs.')),
  to_size: optional(count('Tree size up to which it signed.')),
});
export type Key = Static<typeof Key>;
