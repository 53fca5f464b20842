import {
  Fault,
  type KeySet,
  parseCheckpointKey,
  type SignedCheckpoint,
  verifyCheckpoint,
} from '../../../client/verifier.ts';
import { parseNote } from '../../../tlog/note.ts';

/** What a checkpoint has of one witness: a cosignature that verified, none, or one that is refused. */
export type Cosigned =
  /** When it was made by the witness's clock, epoch milliseconds. */
  | { readonly kind: 'verified'; readonly atMs: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly fault: Fault };

/** @param vkey - the verifier key that the witness is to have signed with */
export function cosignedBy({ note }: SignedCheckpoint, keys: KeySet, vkey: string): Cosigned {
  const key = parseCheckpointKey(vkey);
  if (key instanceof Fault) return { kind: 'refused', fault: key };
  const verified = verifyCheckpoint(note, keys, { witnesses: [key], quorum: 0 });
  if (verified instanceof Fault) return { kind: 'refused', fault: verified };
  const [cosigner] = verified.cosigners;
  return cosigner === undefined ? { kind: 'missing' } : { kind: 'verified', atMs: cosigner.timeS * 1000 };
}

/** In whose names a checkpoint is signed besides the log's and those that are known, each once. */
export function otherSigners(
  { note, origin }: Pick<SignedCheckpoint, 'note' | 'origin'>,
  known: readonly string[],
): string[] {
  const names = parseNote(note).signatures.map(({ name }) => name);
  return [...new Set(names)].filter((name) => name !== origin && !known.includes(name));
}
