import { Fault, httpLog, type ProvenEntry, proveEntry } from '../../../client/verifier.ts';
import { checkLog, keptPin } from '../../state/pin.ts';
import { goodToken } from '../../state/session.ts';
import { mismatch } from './logged.ts';
import type { AlertRow } from './question.ts';

/**
 * Proves, here and now, that the log has what the alert says it has: the entry is fetched with its path to a head that
 * this browser pinned, and signatures, hashes and the place in the tree are checked in this browser.
 */
export async function proveAlert({ id, attributes }: AlertRow): Promise<ProvenEntry | Fault> {
  const { transparency } = attributes;
  if (transparency === undefined) return new Fault('NO_SUCH_RANGE', 'the alert is not in the log yet');
  const head = await headCovering(transparency.leaf_index);
  if (head instanceof Fault) return head;
  const { token } = await goodToken();
  const log = httpLog(location.origin, { token });
  const proven = await proveEntry(log, { leafIndex: transparency.leaf_index }, head);
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
