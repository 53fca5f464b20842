import { alertAttributes } from '../../contract/list-attributes.ts';
import type { Alert } from '../../contract/resources/alert.ts';
import { alertStatuses, priorities, severities, verdicts } from '../../contract/vocabulary.ts';
import { attributeList } from '../../database/lists/attributes.ts';
import { address, compileFilter, members, number, oneOf, type Predicate, text } from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';
import { rank } from '../../database/lists/order.ts';
import type { ListFilter } from '../../store/store.ts';

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
