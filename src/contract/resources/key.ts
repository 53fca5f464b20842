import { keyPurposes, keySigners, keyStates, rotatedPurposes } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, hex32, optional, shape, text, timestamp, uuid } from './fields.ts';

export const Key = shape('Key', {
  kid: uuid('Names the key; equal to the resource id.'),
  purpose: oneOf(keyPurposes, { description: 'The one thing that it signs.' }),
  state: oneOf(keyStates, { description: 'Where it is in its life.' }),
  fingerprint: hex32('SHA-256 of the raw public key.'),
  signer: oneOf(keySigners, { description: 'Where its private part is, or was.' }),
  created_at: timestamp('When it was made.'),
  activated_at: optional(timestamp('When it began to sign.')),
  retired_at: optional(timestamp('When it stopped.')),
  revoked_at: optional(timestamp('When it was revoked: from then on nobody is to trust what it signed.')),
  from_size: optional(count('Tree size from which it signs; of an event-signing key, its first entry.')),
  to_size: optional(
    count('Tree size up to which it signed, inclusive; of an event-signing key, the entry after its last.'),
  ),
});
export type Key = Static<typeof Key>;

export const KeyRotationInput = shape('KeyRotationInput', {
  purpose: oneOf(rotatedPurposes, { description: 'What the new key is to sign.' }),
});

export const KeyRevocationInput = shape('KeyRevocationInput', {
  reason: text('Why nobody is to trust it any more. It is logged, for all who may read entries.', {
    minLength: 1,
    maxLength: 1000,
  }),
});
