import { Fault, type ProvenEntry } from '../../../client/verifier.ts';
import { bytesToHex } from '../../../tlog/hex.ts';
import type { Alert } from './question.ts';

/** What a proven entry of the log says, held against the alert; pure. */

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
  alert: Alert,
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
