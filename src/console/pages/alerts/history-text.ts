import type { ListItem } from '../../../client/client.ts';
import { words } from '../../ui/words.ts';

export type HistoryEntry = ListItem<'listAlertHistory'>['attributes'];

/** Descriptions of history actions. They omit values, which may be untrusted text. */
const sentences: Readonly<Record<HistoryEntry['action'], string>> = {
  raised: 'raised the alert',
  recurred: 'raised the alert again after an earlier one was resolved',
  status_changed: 'changed the status',
  verdict_set: 'set the verdict',
  assigned: 'changed the assignee',
  severity_changed: 'changed the severity',
  priority_changed: 'changed the priority',
  tags_changed: 'changed the tags',
  noted: 'added a note',
  overridden: 'overrode the model verdict',
  silenced: 'suppressed the alert with a silence',
  unsilenced: 'ended the suppression by a silence',
  folded: 'merged the alert into another alert',
  unfolded: 'separated the alert from another alert',
  triaged: 'requested a new model verdict',
};

export interface HistoryLine {
  readonly what: string;
  /** The old value of the changed field, or the removed tags. */
  readonly from?: string;
  /** The new value of the changed field, or the added tags. */
  readonly to?: string;
}

const areIds: ReadonlySet<HistoryEntry['action']> = new Set(['silenced', 'unsilenced', 'folded', 'unfolded']);

export function lineOf({ action, from, to, added, removed }: HistoryEntry): HistoryLine {
  const what = sentences[action];
  if (areIds.has(action)) return { what };
  if (action === 'tags_changed')
    return {
      what,
      ...(removed !== undefined && removed.length > 0 && { from: removed.join(', ') }),
      ...(added !== undefined && added.length > 0 && { to: added.join(', ') }),
    };
  if (action === 'assigned') return { what, ...(from !== undefined && { from }), to: to ?? 'unassigned' };
  return {
    what,
    ...(from !== undefined && { from: words(from) }),
    ...(to !== undefined && { to: words(to) }),
  };
}
