import type { Key } from '../../../../contract/resources/key.ts';
import { number } from '../../../ui/numbers.ts';

/** What keys are for and which they signed, in words; pure. */
type Purpose = Key['purpose'];

export const purposes: Readonly<Record<Purpose, { title: string; signs: string; rotated: string }>> = {
  'transparency-sth': {
    title: 'Tree heads',
    signs: 'It signs tree heads: what the log vouches for.',
    rotated: 'The head that covers the entry is still signed by the old key, every later one by the new one.',
  },
  'event-signing': {
    title: 'Log entries',
    signs: 'It signs each entry of the log.',
    rotated: 'Entries from the next one on are signed by the new key.',
  },
  'access-token': {
    title: 'Access tokens',
    signs: 'It signs the access tokens of users and says nothing of the log.',
    rotated: 'Tokens that were given out stay good for as long as they last, some minutes.',
  },
  checkpoint: {
    title: 'Checkpoints',
    signs:
      'It signs checkpoints for witnesses and monitors, who know the log by it: it is replaced only when it is revoked.',
    rotated: '',
  },
  witness: {
    title: 'Witness',
    signs: 'It cosigns checkpoints of other logs.',
    rotated: '',
  },
};

/** Which sizes of the tree, or which entries, it signs; undefined where neither is kept of it. */
export function rangeOf({ purpose, from_size, to_size }: Key): string | undefined {
  if (from_size === undefined) return undefined;
  if (purpose === 'event-signing')
    return to_size === undefined
      ? `entries from ${number(from_size)} on`
      : `entries ${number(from_size)} to below ${number(to_size)}`;
  return to_size === undefined
    ? `from size ${number(from_size)} on`
    : `sizes ${number(from_size)} to ${number(to_size)}`;
}

/** What its revocation means to who verifies. */
export function revocationOf({ purpose, state }: Key): string {
  const next = state === 'active' ? ' A new one takes its place at once.' : '';
  switch (purpose) {
    case 'access-token':
      return `No access token that it signed is good any more: everybody's session is renewed with the next call.${next}`;
    case 'checkpoint':
      return `Witnesses and monitors know the log by this key: each must be told the new one, by another way than this service.${next}`;
    default:
      return `From now on nobody is to trust what it signed: verifiers refuse it, past heads and entries included, and evidence that rests on it.${next}`;
  }
}
