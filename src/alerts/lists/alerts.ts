import { alertAttributes, silenceAttributes } from '../../contract/list-attributes.ts';
import type { Alert, AlertHistory } from '../../contract/resources/alert.ts';
import type { AlertNote } from '../../contract/resources/alert-note.ts';
import type { Silence } from '../../contract/resources/silence.ts';
import {
  alertActions,
  alertStatuses,
  priorities,
  ruleSources,
  severities,
  verdicts,
} from '../../contract/vocabulary.ts';
import { attributeList } from '../../database/lists/attributes.ts';
import {
  address,
  anyCase,
  compileFilter,
  members,
  number,
  oneOf,
  type Predicate,
  someOf,
  text,
} from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';
import { rank } from '../../database/lists/order.ts';
import type { ListFilter } from '../../store/store.ts';

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

/**
 * A note with its number. The notes of an alert are numbered from 1 in the order in which they were written.
 */
export interface NumberedNote {
  readonly number: number;
  readonly note: AlertNote;
}

/**
 * Returns the definition of the list of one alert's notes. Sorting by number gives the order of time, even
 * within a millisecond.
 */
export const noteListOf = (alertId: string): ListSpec<NumberedNote> => ({
  type: 'alert_note',
  of: alertId,
  terms: { author: text(({ note }) => note.author) },
  sorts: { created_at: ({ number }) => number },
  time: ({ note }) => note.created_at,
  names: ({ note }) => [note.text, note.author],
});

/** Definition of the list of silences. `from` and `to` bound `created_at`. */
export const silenceList: ListSpec<Silence> = attributeList(silenceAttributes, {
  type: 'silence',
  terms: {
    rule_id: members((silence) => silence.matcher.rule_id),
    rule_source: someOf(ruleSources, (silence) => silence.matcher.rule_source),
    category: members((silence) => silence.matcher.category),
    domain: anyCase(members((silence) => silence.matcher.domain)),
    asset_id: members((silence) => silence.matcher.asset_id),
  },
  time: (silence) => silence.created_at,
  names: ({ reason, owner, matcher }) => [
    reason,
    owner,
    ...(matcher.rule_id ?? []),
    ...(matcher.category ?? []),
    ...(matcher.src_ip ?? []),
    ...(matcher.dst_ip ?? []),
    ...(matcher.ip ?? []),
    ...(matcher.domain ?? []),
  ],
});

/**
 * Distance between levels. It is larger than any time in milliseconds, and its small multiples are exact
 * integers.
 */
const levelApart = 2 ** 48;
/** Returns a number that sorts by level first, then by `last_seen`. */
const byLevel = (level: number | undefined, { last_seen }: Alert): number | undefined =>
  level === undefined ? undefined : level * levelApart + Date.parse(last_seen);

/** Definition of the list of alerts. `from` and `to` bound `last_seen`. */
export const alertList: ListSpec<Alert> = attributeList(alertAttributes, {
  type: 'alert',
  terms: {
    severity: oneOf(severities, (alert) => alert.severity),
    ai_verdict: oneOf(verdicts, (alert) => alert.ai_verdict?.verdict),
    assigned: text((alert) => String(alert.assignee !== undefined)),
    ip: address(
      (alert) => alert.src_ip,
      (alert) => alert.dst_ip,
    ),
    port: number(
      (alert) => alert.src_port,
      (alert) => alert.dst_port,
    ),
    tag: members((alert) => alert.tags),
    tags: members((alert) => alert.tags),
    tactic: members((alert) => alert.mitre?.tactics),
    technique: members((alert) => alert.mitre?.techniques),
    asset_id: members((alert) => alert.asset_ids),
    event_id: members((alert) => alert.event_ids),
  },
  sorts: {
    severity: (alert) => byLevel(rank(severities, alert.severity), alert),
    status: (alert) => rank(alertStatuses, alert.status),
    priority: (alert) => byLevel(rank(priorities, alert.priority), alert),
  },
  time: (alert) => alert.last_seen,
  names: (alert) => [
    alert.title,
    alert.description,
    alert.rule_name,
    alert.rule_id,
    alert.category,
    alert.domain,
    alert.src_ip,
    alert.dst_ip,
    alert.assignee,
    ...alert.tags,
  ],
  severity: (alert) => alert.severity,
});

/**
 * Compiles the filter for lists, replays and live subscriptions. @throws INVALID_REQUEST naming the field.
 */
export const compileAlertFilter = (filter: ListFilter): Predicate<Alert> => compileFilter(alertList, filter);
