import { Denied } from '../../../client/log-source.ts';
import { AuditFault, httpLog, type ProvenEntry, proveEntry } from '../../../client/verifier.ts';
import { checkLog, keptPin } from '../../state/pin.ts';
import { goodToken, may } from '../../state/session.ts';
import { mismatch } from './logged.ts';
import { type ProvenLeaf, proveLeaf } from './prove-leaf.ts';
import type { AlertRow } from './question.ts';

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
