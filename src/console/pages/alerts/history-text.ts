import type { ListItem } from '../../../client/client.ts';
import { words } from '../../ui/words.ts';

export type HistoryEntry = ListItem<'listAlertHistory'>['attributes'];

/** What happened, in words; the values stand apart, as they may be anybody's text. */
const sentences: Readonly<Record<HistoryEntry['action'], string>> = {
  raised: 'raised it',
  recurred: 'raised it, again after a resolved one',
  status_changed: 'changed the status',
  verdict_set: 'gave the verdict',
  assigned: 'assigned it',
  severity_changed: 'changed the severity',
  priority_changed: 'changed the priority',
  tags_changed: 'changed the tags',
  noted: 'noted something',
  overridden: 'overrode the verdict of the model',
  silenced: 'suppressed it by a silence',
  unsilenced: 'took it out of a silence',
  folded: 'folded it into another alert',
  unfolded: 'took it out of another alert',
  triaged: 'had the model judge it anew',
};

export interface HistoryLine {
  readonly what: string;
  /** What it was and what it became, where that can be said in a word. */
  readonly from?: string;
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
  if (action === 'assigned') return { what, ...(from !== undefined && { from }), to: to ?? 'nobody' };
  return {
    what,
    ...(from !== undefined && { from: words(from) }),
    ...(to !== undefined && { to: words(to) }),
  };
}
