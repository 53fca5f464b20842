import type { KeySet, LogKey } from '../../../client/verifier.ts';

/** The position of a key among the keys of its purpose. */
export interface Place {
  /** Position of the key, counted from 1. */
  readonly number: number;
  readonly of: number;
  readonly before?: LogKey;
  readonly after?: LogKey;
}

/** Returns the keys of one purpose in the order in which they became active; pending keys last. */
export function succession(keys: KeySet, purpose: string | undefined): LogKey[] {
  const beginOf = ({ fromSize, state }: LogKey) => (state === 'pending' ? Number.POSITIVE_INFINITY : (fromSize ?? 0));
  return [...keys.values()]
    .filter((key) => key.purpose === purpose)
    .sort((a, b) => beginOf(a) - beginOf(b) || (a.notBefore ?? '').localeCompare(b.notBefore ?? ''));
}

export function placeOfKey(keys: KeySet, key: LogKey): Place {
  const line = succession(keys, key.purpose);
  const at = line.findIndex(({ kid }) => kid === key.kid);
  const before = line[at - 1];
  const after = line[at + 1];
  return { number: at + 1, of: line.length, ...(before && { before }), ...(after && { after }) };
}
