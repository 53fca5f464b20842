import { members, parseExact } from '../../../client/exact-json.ts';
import { Denied } from '../../../client/log-source.ts';
import { sha256 } from '../../../client/sha256.ts';
import {
  AuditFault,
  httpLog,
  type KeySet,
  type LogSource,
  type ProvenEntry,
  proveEntry,
  type SignedHead,
  verifyHead,
} from '../../../client/verifier.ts';
import { readPath } from '../../../client/verify.ts';
import { TlogError } from '../../../tlog/fault.ts';
import { hexToBytes } from '../../../tlog/hex.ts';
import { verifyInclusion } from '../../../tlog/proof.ts';
import { type Hash, hashBytes } from '../../../tlog/tree.ts';
import { checkLog, keptPin } from '../../state/pin.ts';
import { goodToken, may } from '../../state/session.ts';
import { mismatch } from './logged.ts';
import type { Alert, AlertRow } from './question.ts';

/**
 * Proves that the log contains the alert: fetches the entry with its path to a head that this browser pinned, and
 * verifies signatures, hashes and the position in the tree in this browser. Without permission to read entries, proves
 * only that the log contains the hash in the alert.
 */
export async function proveAlert({ id, attributes }: AlertRow): Promise<ProvenEntry | ProvenLeaf | AuditFault> {
  const { transparency } = attributes;
  if (transparency === undefined) return new AuditFault('NO_SUCH_RANGE', 'the alert is not in the log yet');
  const head = await headCovering(transparency.leaf_index);
  if (head instanceof AuditFault) return head;
  const { token } = await goodToken();
  const log = httpLog(location.origin, { token });
  // Does not request data that would be denied, because denials are recorded.
  if (!may('getLeaf')) return proveLeaf(log, transparency, head);
  const proven = await proveEntry(log, { leafIndex: transparency.leaf_index }, head);
  if (proven instanceof Denied) return proveLeaf(log, transparency, head);
  return proven instanceof AuditFault ? proven : (mismatch(proven, id, transparency.leaf_hash) ?? proven);
}

/** Returns the most recently pinned head, or the newest head if the pinned head does not cover the entry. */
async function headCovering(leafIndex: number) {
  const pin = keptPin();
  if (pin !== undefined && !(pin instanceof AuditFault) && pin.head.size > leafIndex) return pin;
  const state = await checkLog();
  if (state.kind === 'verified') return state.pin;
  if ('fault' in state) return state.fault;
  return new AuditFault('NO_SUCH_RANGE', 'the log is empty');
}

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
async function proveLeaf(
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
    return new AuditFault(code, `leaf ${leafIndex} in the tree of size ${head.size}: ${error.message}`);
  }
}
