import { Denied } from '../../../client/log-source.ts';
import { Fault, httpLog, type ProvenEntry, proveEntry } from '../../../client/verifier.ts';
import { checkLog, keptPin } from '../../state/pin.ts';
import { goodToken, may } from '../../state/session.ts';
import { mismatch } from './logged.ts';
import { type ProvenLeaf, proveLeaf } from './prove-leaf.ts';
import type { AlertRow } from './question.ts';

/**
 * Proves, here and now, that the log has what the alert says it has: the entry is fetched with its path to a head that
 * this browser pinned, and signatures, hashes and the place in the tree are checked in this browser. For who may not
 * read entries, what is for everybody is proven: that the log has one of the hash that the alert names.
 */
export async function proveAlert({ id, attributes }: AlertRow): Promise<ProvenEntry | ProvenLeaf | Fault> {
  const { transparency } = attributes;
  if (transparency === undefined) return new Fault('NO_SUCH_RANGE', 'the alert is not in the log yet');
  const head = await headCovering(transparency.leaf_index);
  if (head instanceof Fault) return head;
  const { token } = await goodToken();
  const log = httpLog(location.origin, { token });
  // What would be refused is not asked for: refusals are recorded.
  if (!may('getLeaf')) return proveLeaf(log, transparency, head);
  const proven = await proveEntry(log, { leafIndex: transparency.leaf_index }, head);
  if (proven instanceof Denied) return proveLeaf(log, transparency, head);
  return proven instanceof Fault ? proven : (mismatch(proven, id, transparency.leaf_hash) ?? proven);
}

/** The head that this browser pinned last, or the newest where that is too small for the entry. */
async function headCovering(leafIndex: number) {
  const pin = keptPin();
  if (pin !== undefined && !(pin instanceof Fault) && pin.head.size > leafIndex) return pin;
  const state = await checkLog();
  if (state.kind === 'verified') return state.pin;
  if (state.kind === 'broken' || state.kind === 'unreachable') return state.fault;
  return new Fault('NO_SUCH_RANGE', 'the log is empty');
}
