import type { Alert, AlertHistory } from '../contract/resources/alert.ts';
import { omitUndefined } from '../database/omit-undefined.ts';

/** A change in an alert's history, without its time and author. */
export type AlertChangeRecord = Omit<AlertHistory, 'alert_id' | 'at' | 'actor'>;

/** Attributes whose changes are recorded, in the order of the records of one change. */
const attributes: readonly {
  readonly action: AlertChangeRecord['action'];
  readonly read: (alert: Alert) => string | undefined;
}[] = [
  { action: 'status_changed', read: ({ status }) => status },
  { action: 'verdict_set', read: ({ verdict }) => verdict },
  { action: 'severity_changed', read: ({ severity }) => severity },
  { action: 'priority_changed', read: ({ priority }) => priority },
  { action: 'assigned', read: ({ assignee }) => assignee },
  { action: 'triaged', read: ({ ai_verdict }) => ai_verdict?.verdict },
];

/**
 * Returns the history records of a change of an alert. Most changes have no records, because they only count an
 * occurrence or store the alert's position in the log. A new alert has one record, and a second record if a silence or
 * a summary alert suppressed the alert.
 */
export function alertChanges(before: Alert | undefined, after: Alert): AlertChangeRecord[] {
  if (before === undefined) {
    const action = after.previous_alert_id === undefined ? 'raised' : 'recurred';
    return [{ action, to: after.severity }, ...covered(undefined, after)];
  }
  const records = covered(before, after);
  for (const { action, read } of attributes) {
    const from = read(before);
    const to = read(after);
    if (from !== to) records.push({ action, ...omitUndefined({ from, to }) });
  }
  const { override } = after;
  if (override !== undefined && override.at !== before.override?.at)
    records.push({
      action: 'overridden',
      ...omitUndefined({ from: after.ai_verdict?.verdict }),
      to: override.verdict,
      reason: override.reason,
    });
  records.push(...tags(before.tags, after.tags));
  if (after.note_count > before.note_count) records.push({ action: 'noted' });
  return records;
}

/** Reasons for suppression other than a user's change. */
const covers = [
  { begins: 'silenced', ends: 'unsilenced', read: ({ silence_id }) => silence_id },
  { begins: 'folded', ends: 'unfolded', read: ({ folded_into }) => folded_into },
] as const satisfies readonly {
  readonly begins: AlertChangeRecord['action'];
  readonly ends: AlertChangeRecord['action'];
  readonly read: (alert: Alert) => string | undefined;
}[];

function covered(before: Alert | undefined, after: Alert): AlertChangeRecord[] {
  const records: AlertChangeRecord[] = [];
  for (const { begins, ends, read } of covers) {
    const from = before && read(before);
    const to = read(after);
    if (from !== to) records.push({ action: to === undefined ? ends : begins, ...omitUndefined({ from, to }) });
  }
  return records;
}

/** Returns the added and the removed tags. Order and repetition do not matter. */
function tags(before: readonly string[], after: readonly string[]): AlertChangeRecord[] {
  if (before === after) return [];
  const had = new Set(before);
  const has = new Set(after);
  const added = [...has].filter((tag) => !had.has(tag));
  const removed = [...had].filter((tag) => !has.has(tag));
  if (added.length + removed.length === 0) return [];
  return [
    {
      action: 'tags_changed',
      ...(added.length === 0 ? {} : { added }),
      ...(removed.length === 0 ? {} : { removed }),
    },
  ];
}
