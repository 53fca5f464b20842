import { AuditFault, type ProvenEntry } from '../../../client/verifier.ts';
import { bytesToHex } from '../../../tlog/hex.ts';
import type { Alert } from './question.ts';

/** Compares a proven log entry with the alert. All functions here are pure. */

/** Returns a fault if the entry is in the log but does not belong to the alert. */
export function mismatch(
  { entry, leafHash }: Pick<ProvenEntry, 'entry' | 'leafHash'>,
  alertId: string,
  leafHashOfAlert: string,
): AuditFault | undefined {
  const subject = (entry.subject as { readonly id?: unknown } | undefined)?.id;
  if (entry.kind !== 'alert.raised' || subject !== alertId)
    return new AuditFault('WRONG_LEAF', `the log entry is ${entry.kind} of ${String(subject)}, not of this alert`);
  if (bytesToHex(leafHash) !== leafHashOfAlert)
    return new AuditFault('WRONG_LEAF', 'the hash of the log entry differs from the hash in the alert');
  return undefined;
}

/** Returns the alert as logged, and the fields that have changed since. */
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
  const loggedFields = { severity: String(data.severity), title: String(data.title) };
  const changed = (['severity', 'title'] as const).filter((name) => !same(loggedFields[name], alert[name]));
  return { ...loggedFields, at: String(entry.occurred_at), changed };
}

/** Returns whether the texts are equal, considering that log entries truncate long texts. */
const same = (text: string, now: string): boolean =>
  text === now || (text.length >= 100 && now.startsWith(text.replace(/…$/, '')));
