import { Fault, httpLog, type ProvenEntry, proveEntry } from '../../../client/verifier.ts';
import { bytesToHex } from '../../../tlog/hex.ts';
import { checkLog, keptPin } from '../../state/pin.ts';
import { goodToken } from '../../state/session.ts';
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

/** An entry may be in the log and yet not be that of the alert. */
export function mismatch(
  { entry, leafHash }: Pick<ProvenEntry, 'entry' | 'leafHash'>,
  alertId: string,
  toldHash: string,
): Fault | undefined {
  const subject = (entry.subject as { readonly id?: unknown } | undefined)?.id;
  if (entry.kind !== 'alert.raised' || subject !== alertId)
    return new Fault('WRONG_LEAF', `the entry there is ${entry.kind} of ${String(subject)}, not this alert`);
  if (bytesToHex(leafHash) !== toldHash)
    return new Fault('WRONG_LEAF', 'the entry there has another hash than the alert names');
  return undefined;
}

/** What the log says of the alert, and in what the alert is another by now. */
export function logged(
  { entry }: Pick<ProvenEntry, 'entry'>,
  alert: AlertRow['attributes'],
): {
  readonly severity: string;
  readonly title: string;
  readonly at: string;
  readonly changed: readonly string[];
} {
  const data = (entry.data ?? {}) as Readonly<Record<string, unknown>>;
  const said = { severity: String(data.severity), title: String(data.title) };
  const changed = (['severity', 'title'] as const).filter((name) => !same(said[name], alert[name]));
  return { ...said, at: String(entry.occurred_at), changed };
}

/** Entries keep texts to a length. */
const same = (said: string, now: string): boolean =>
  said === now || (said.length >= 100 && now.startsWith(said.replace(/…$/, '')));
