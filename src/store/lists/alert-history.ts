import type { AlertHistory } from '../../contract/resources/alert-history.ts';
import { alertActions } from '../../contract/vocabulary.ts';
import { members, oneOf } from './filter.ts';
import type { ListSpec } from './list.ts';

/** A record with its number: records of an alert are numbered in order of arrival. */
export interface NumberedChange {
  readonly number: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly actor: AlertHistory['actor'];
  readonly record: Omit<AlertHistory, 'alert_id' | 'at' | 'actor'>;
}

/** The history of one alert. Sorting by number gives the order of time, also within a millisecond. */
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
