import type { AlertHistory } from '../../contract/resources/alert-history.ts';
import { alertActions } from '../../contract/vocabulary.ts';
import { members, oneOf } from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';

/** A record with its number. The records of an alert are numbered in the order in which they were made. */
export interface NumberedChange {
  readonly number: number;
  /** Time of the change, epoch milliseconds. */
  readonly at: number;
  readonly actor: AlertHistory['actor'];
  readonly record: Omit<AlertHistory, 'alert_id' | 'at' | 'actor'>;
}

/**
 * Returns the definition of the list of one alert's history. Sorting by number gives the order of time, even
 * within a millisecond.
 */
export const alertHistoryListOf = (alertId: string): ListSpec<NumberedChange> => ({
  type: 'alert_history',
  of: alertId,
  terms: {
    action: oneOf(alertActions, ({ record }) => record.action),
    actor: members(({ actor }) => (actor.name === undefined ? [actor.id] : [actor.id, actor.name])),
  },
  sorts: { at: ({ number }) => number },
  time: ({ at }) => at,
  names: ({ actor, record: { action, from, to, reason, added = [], removed = [] } }) => [
    action,
    actor.name,
    from,
    to,
    reason,
    ...added,
    ...removed,
  ],
});
