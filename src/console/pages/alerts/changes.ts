import type { AlertUpdateInput } from '../../../contract/resources/alert.ts';
import { type AlertStatus, alertTransitions, mayBecome } from '../../../contract/vocabulary.ts';
import { foreign, words } from '../../ui/words.ts';
import type { Alert } from './question.ts';

/** What is done to alerts, as the service takes it; all pure. */
export type Change = AlertUpdateInput;

/** Takes back what was begun: a closed alert is worked on again, one that is worked on is new, and nobody's. */
export function takenBack({ status, assignee }: Pick<Alert, 'status' | 'assignee'>): Change | undefined {
  if (status === 'resolved' || status === 'suppressed') return { status: 'in_progress' };
  if (status === 'in_progress') return { status: 'new', assignee: '' };
  return status === 'new' && assignee !== undefined ? { assignee: '' } : undefined;
}

/** The keys that lead to a status. */
const keyTo: Readonly<Partial<Record<AlertStatus, string>>> = {
  in_progress: 'i',
  resolved: 'r',
  new: 'u',
};

/** Why an alert cannot become so, and what can be done; undefined where it can. */
export function refusal(from: AlertStatus, to: AlertStatus): string | undefined {
  if (mayBecome(from, to)) return undefined;
  const ways: readonly AlertStatus[] = alertTransitions[from];
  if (ways.length === 0) return `An ${from} alert is final: nothing about its status changes any more.`;
  const told = ways.map((way) => `${words(way)}${keyTo[way] === undefined ? '' : ` (${keyTo[way]})`}`);
  return `A ${words(from)} alert can become ${told.join(' or ')}, not ${words(to)}.`;
}

/** What the alert will be, shown until the service has said so. */
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

const decided = ['status', 'verdict', 'severity', 'priority', 'assignee'] as const;

/** What somebody decided about an alert between two of its states, in words; empty where it was only seen again. */
export function decisions(before: Alert, after: Alert): string[] {
  const told = decided
    .filter((name) => before[name] !== after[name])
    .map(
      (name) =>
        `${name} is now ${name === 'assignee' && after.assignee !== undefined ? foreign(after.assignee) : words(after[name] ?? 'none')}`,
    );
  if (before.tags.join('\n') !== after.tags.join('\n'))
    told.push(`tags are now ${after.tags.map((tag) => foreign(tag)).join(', ') || 'none'}`);
  if (before.override?.at !== after.override?.at) told.push('its verdict was overridden');
  return told;
}

/** How a change is told once it is made: `resolved`, `assigned to ana`. */
export function told(change: Change): string {
  const parts: string[] = [];
  if (change.status !== undefined) parts.push(words(change.status));
  if (change.assignee !== undefined)
    parts.push(change.assignee ? `assigned to ${foreign(change.assignee)}` : 'assigned to nobody');
  const verdict = change.ai_override?.verdict ?? change.verdict;
  if (verdict) parts.push(`verdict ${words(verdict)}`);
  else if (verdict !== undefined) parts.push('verdict withdrawn');
  if (change.severity !== undefined) parts.push(`severity ${change.severity}`);
  if (change.priority !== undefined) parts.push(`priority ${change.priority}`);
  if (change.tags !== undefined) parts.push('tagged');
  if (change.note !== undefined) parts.push('noted');
  return parts.join(', ');
}
