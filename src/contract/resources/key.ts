import { keyPurposes, keySigners, keyStates, rotatedPurposes } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, hex32, optional, shape, text, timestamp, uuid } from './fields.ts';

export const Key = shape('Key', {
  kid: uuid('Identifier of the key; equal to the resource id.'),
  purpose: oneOf(keyPurposes, 'Purpose of the key: what it signs.'),
  state: oneOf(keyStates, 'State of the key.'),
  fingerprint: hex32('SHA-256 of the raw public key.'),
  signer: oneOf(keySigners, 'Where the private key is, or was, held.'),
  created_at: timestamp('Time at which the key was created.'),
  activated_at: optional(timestamp('Time at which the key started to sign.')),
  retired_at: optional(timestamp('Time at which the key stopped signing.')),
  revoked_at: optional(
    timestamp('Time at which the key was revoked. Its signatures must not be trusted after this time.'),
  ),
  from_size: optional(
    count('First tree size that the key signs; for an event-signing key, the index of its first entry.'),
  ),
  to_size: optional(
    count('Last tree size that the key signed; for an event-signing key, the index of the entry after its last.'),
  ),
});
export type Key = Static<typeof Key>;

export const KeyRotationInput = shape('KeyRotationInput', {
  purpose: oneOf(rotatedPurposes, 'Purpose of the new key.'),
});

export const KeyRevocationInput = shape('KeyRevocationInput', {
  reason: text(
    'Why the key is no longer trusted. The reason is logged and visible to all roles that can read entries.',
    {
      minLength: 1,
      maxLength: 1000,
    },
  ),
});
