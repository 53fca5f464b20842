import {
  AuditFault,
  type KeySet,
  parseCheckpointKey,
  type SignedCheckpoint,
  verifyCheckpoint,
} from '../../../client/verifier.ts';
import { parseNote } from '../../../tlog/note.ts';

/** The cosignature of a witness on a checkpoint. */
export type Cosigned =
  /** Time of the cosignature by the witness's clock, in epoch milliseconds. */
  | { readonly kind: 'verified'; readonly atMs: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly fault: AuditFault };

/** Returns the cosignature of a witness on a checkpoint. @param vkey - the witness's verifier key */
export function cosignedBy({ note }: SignedCheckpoint, keys: KeySet, vkey: string): Cosigned {
  const key = parseCheckpointKey(vkey);
  if (key instanceof AuditFault) return { kind: 'refused', fault: key };
  const verified = verifyCheckpoint(note, keys, { witnesses: [key], quorum: 0 });
  if (verified instanceof AuditFault) return { kind: 'refused', fault: verified };
  const [cosigner] = verified.cosigners;
  return cosigner === undefined ? { kind: 'missing' } : { kind: 'verified', atMs: cosigner.timeS * 1000 };
}

/** Returns the signers of a checkpoint other than the log and the witnesses in `known`. */
export function otherSigners(
  { note, origin }: Pick<SignedCheckpoint, 'note' | 'origin'>,
  known: readonly string[],
): string[] {
  const names = parseNote(note).signatures.map(({ name }) => name);
  return [...new Set(names)].filter((name) => name !== origin && !known.includes(name));
}
