import { members, parseExact } from '../../../client/exact-json.ts';
import { sha256 } from '../../../client/sha256.ts';
import { AuditFault, type KeySet, type LogSource, type SignedHead, verifyHead } from '../../../client/verifier.ts';
import { readPath } from '../../../client/verify.ts';
import { TlogError } from '../../../tlog/fault.ts';
import { hexToBytes } from '../../../tlog/hex.ts';
import { verifyInclusion } from '../../../tlog/proof.ts';
import { type Hash, hashBytes } from '../../../tlog/tree.ts';
import type { Alert } from './question.ts';

/** The result of proving that the log has an entry with a given hash. The contents of the entry are not proven. */
export interface ProvenLeaf {
  readonly kind: 'leaf';
  readonly path: readonly Hash[];
  readonly head: SignedHead;
}

/**
 * Proves that the log has an entry with this hash at this position. Hashes and audit paths are public. The contents of
 * the entry are not proven.
 */
export async function proveLeaf(
  log: LogSource,
  { leaf_index: leafIndex, leaf_hash: expectedHash }: NonNullable<Alert['transparency']>,
  { head, keys }: { readonly head: SignedHead; readonly keys: KeySet },
): Promise<ProvenLeaf | AuditFault> {
  const text = await log.get(`/api/transparency/inclusion?leaf_index=${leafIndex}&tree_size=${head.size}`);
  if (text instanceof AuditFault) return text;
  const path = readPath(members(parseExact(text))?.audit_path);
  if (path instanceof AuditFault) return path;
  const signer = verifyHead(head, keys);
  if (signer instanceof AuditFault) return signer;
  try {
    const leafHash = hexToBytes(expectedHash, hashBytes);
    verifyInclusion(sha256, { leafIndex, treeSize: head.size, leafHash, path, root: head.root });
    return { kind: 'leaf', path, head };
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    const code = error.fault === 'root_mismatch' ? 'NOT_INCLUDED' : 'MALFORMED_PROOF';
    return new AuditFault(code, `leaf ${leafIndex} in the tree of ${head.size}: ${error.message}`);
  }
}
