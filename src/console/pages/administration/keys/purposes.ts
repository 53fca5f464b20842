import type { Key } from '../../../../contract/resources/key.ts';
import { number } from '../../../ui/numbers.ts';

/** Descriptions of key purposes and of the range that a key signed. */
type Purpose = Key['purpose'];

export const purposes: Readonly<Record<Purpose, { title: string; signs: string; rotated: string }>> = {
  'transparency-sth': {
    title: 'Tree heads',
    signs: 'Signs tree heads, which commit to the whole log.',
    rotated: 'The old key still signs the tree head that covers the rotation; the new key signs later tree heads.',
  },
  'event-signing': {
    title: 'Log entries',
    signs: 'Signs each log entry.',
    rotated: 'The new key signs all further entries.',
  },
  'access-token': {
    title: 'Access tokens',
    signs: 'Signs the access tokens of users. Not used for the log.',
    rotated: 'Issued tokens stay valid until they expire, a few minutes later.',
  },
  checkpoint: {
    title: 'Checkpoints',
    signs:
      'Signs checkpoints for witnesses and monitors, which identify the log by this key. Replaced only when revoked.',
    rotated: '',
  },
  witness: {
    title: 'Witness',
    signs: 'Cosigns checkpoints of other logs.',
    rotated: '',
  },
};

/** Describes the tree sizes or entries that a key signed; undefined if neither is recorded. */
export function rangeOf({ purpose, from_size, to_size }: Key): string | undefined {
  if (from_size === undefined) return undefined;
  if (purpose === 'event-signing')
    return to_size === undefined
      ? `entries from ${number(from_size)}`
      : `entries ${number(from_size)} to ${number(to_size - 1)}`;
  return to_size === undefined ? `from size ${number(from_size)}` : `sizes ${number(from_size)} to ${number(to_size)}`;
}

/** Explains the effect of revoking a key. */
export function revocationOf({ purpose, state }: Key): string {
  const next = state === 'active' ? ' A new key will replace it immediately.' : '';
  switch (purpose) {
    case 'access-token':
      return `All access tokens signed by this key will become invalid; user sessions will be renewed with their next request.${next}`;
    case 'checkpoint':
      return `Witnesses and monitors identify the log by this key: give each of them the new key through another channel.${next}`;
    default:
      return `Verifiers will reject everything signed by this key, including past tree heads, entries and evidence based on them.${next}`;
  }
}
