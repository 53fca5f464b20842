import type { AlertUpdateInput } from '../../../contract/resources/alert.ts';
import { type AlertStatus, alertTransitions, mayBecome } from '../../../contract/vocabulary.ts';
import { isolateText, title, words } from '../../ui/words.ts';
import type { Alert } from './question.ts';

/** Changes of alerts. All functions here are pure. */

/** A change in the request format of the API. */
export type Change = AlertUpdateInput;

/**
 * Returns the reverse change: reopens a closed alert, returns an alert in progress to new and unassigned, or unassigns
 * a new alert. Undefined if there is nothing to reverse.
 */
export function reverseOf({ status, assignee }: Pick<Alert, 'status' | 'assignee'>): Change | undefined {
  if (status === 'resolved' || status === 'suppressed') return { status: 'in_progress' };
  if (status === 'in_progress') return { status: 'new', assignee: '' };
  return status === 'new' && assignee !== undefined ? { assignee: '' } : undefined;
}

/** Shortcut keys by the status that they set. */
const keyTo: Readonly<Partial<Record<AlertStatus, string>>> = {
  in_progress: 'i',
  resolved: 'r',
  new: 'u',
};

/** Explains why a status change is not allowed, and lists the allowed changes; undefined for an allowed change. */
export function refusal(from: AlertStatus, to: AlertStatus): string | undefined {
  if (mayBecome(from, to)) return undefined;
  const ways: readonly AlertStatus[] = alertTransitions[from];
  if (ways.length === 0) return `The status of an ${from} alert is final.`;
  const options = ways.map((way) => `${words(way)}${keyTo[way] === undefined ? '' : ` (${keyTo[way]})`}`);
  return `${title(from)} alerts can be changed to ${options.join(' or ')}, not to ${words(to)}.`;
}

/** Returns the alert as it should be after the change, which is shown until the service replies. */
export function predicted(alert: Alert, change: Change): Alert {
  const { note, ai_override, assignee, verdict, ...rest } = change;
  const next: Alert = { ...alert, ...rest };
  if (assignee) next.assignee = assignee;
  else if (assignee !== undefined) delete next.assignee;
  if (verdict) next.verdict = verdict;
  else if (verdict !== undefined) delete next.verdict;
  if (note !== undefined) next.note_count = alert.note_count + 1;
  if (ai_override !== undefined) next.verdict = ai_override.verdict;
  if (change.status !== undefined) {
    delete next.silence_id;
    delete next.folded_into;
  }
  return next;
}

const decisionFields = ['status', 'verdict', 'severity', 'priority', 'assignee'] as const;

/** Describes the decisions made between two versions of an alert; empty if only occurrences were added. */
export function decisions(before: Alert, after: Alert): string[] {
  const lines = decisionFields
    .filter((name) => before[name] !== after[name])
    .map(
      (name) =>
        `${name} is now ${name === 'assignee' && after.assignee !== undefined ? isolateText(after.assignee) : words(after[name] ?? 'none')}`,
    );
  if (before.tags.join('\n') !== after.tags.join('\n'))
    lines.push(`tags are now ${after.tags.map((tag) => isolateText(tag)).join(', ') || 'none'}`);
  if (before.override?.at !== after.override?.at) lines.push('its verdict was overridden');
  return lines;
}

/** Describes a change for a confirmation: `resolved`, `assigned to ana`. */
export function describeChange(change: Change): string {
  const parts: string[] = [];
  if (change.status !== undefined) parts.push(words(change.status));
  if (change.assignee !== undefined)
    parts.push(change.assignee ? `assigned to ${isolateText(change.assignee)}` : 'unassigned');
  const verdict = change.ai_override?.verdict ?? change.verdict;
  if (verdict) parts.push(`verdict ${words(verdict)}`);
  else if (verdict !== undefined) parts.push('verdict removed');
  if (change.severity !== undefined) parts.push(`severity ${change.severity}`);
  if (change.priority !== undefined) parts.push(`priority ${change.priority}`);
  if (change.tags !== undefined) parts.push('tags changed');
  if (change.note !== undefined) parts.push('note added');
  return parts.join(', ');
}
