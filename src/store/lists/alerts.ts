import type { Alert } from '../../contract/resources/alert.ts';
import { alertStatuses, priorities, ruleSources, severities, verdicts } from '../../contract/vocabulary.ts';
import type { ListFilter } from '../store.ts';
import { address, compileFilter, members, number, oneOf, type Predicate, text } from './filter.ts';
import type { ListSpec } from './list.ts';
import { addressOrder, rank, timeOrder } from './order.ts';

/** Larger than any time in milliseconds; a few times this is still an exact integer. */
const levelApart = 2 ** 48;
/** Sorts by level first, then by `last_seen`. */
const byLevel = (level: number | undefined, { last_seen }: Alert): number | undefined =>
  level === undefined ? undefined : level * levelApart + Date.parse(last_seen);

/** `from` and `to` bound `last_seen`. */
export const alertList: ListSpec<Alert> = {
  type: 'alert',
  terms: {
    severity: oneOf(severities, (alert) => alert.severity),
    status: oneOf(alertStatuses, (alert) => alert.status),
    verdict: oneOf(verdicts, (alert) => alert.verdict),
    ai_verdict: oneOf(verdicts, (alert) => alert.ai_verdict?.verdict),
    priority: oneOf(priorities, (alert) => alert.priority),
    rule_source: oneOf(ruleSources, (alert) => alert.rule_source),
    rule_id: text((alert) => alert.rule_id),
    rule_name: text((alert) => alert.rule_name),
    title: text((alert) => alert.title),
    category: text((alert) => alert.category),
    transport: text((alert) => alert.transport),
    domain: text((alert) => alert.domain),
    assignee: text((alert) => alert.assignee),
    assigned: text((alert) => String(alert.assignee !== undefined)),
    dedup_key: text((alert) => alert.dedup_key),
    previous_alert_id: text((alert) => alert.previous_alert_id),
    silence_id: text((alert) => alert.silence_id),
    folded_into: text((alert) => alert.folded_into),
    risk_score: number((alert) => alert.risk_score),
    confidence: number((alert) => alert.confidence),
    count: number((alert) => alert.count),
    src_ip: address((alert) => alert.src_ip),
    dst_ip: address((alert) => alert.dst_ip),
    ip: address(
      (alert) => alert.src_ip,
      (alert) => alert.dst_ip,
    ),
    src_port: number((alert) => alert.src_port),
    dst_port: number((alert) => alert.dst_port),
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
    verdict: (alert) => alert.verdict,
    title: (alert) => alert.title,
    description: (alert) => alert.description,
    category: (alert) => alert.category,
    rule_id: (alert) => alert.rule_id,
    rule_name: (alert) => alert.rule_name,
    rule_source: (alert) => alert.rule_source,
    risk_score: (alert) => alert.risk_score,
    confidence: (alert) => alert.confidence,
    src_ip: (alert) => addressOrder(alert.src_ip),
    dst_ip: (alert) => addressOrder(alert.dst_ip),
    src_port: (alert) => alert.src_port,
    dst_port: (alert) => alert.dst_port,
    transport: (alert) => alert.transport,
    domain: (alert) => alert.domain,
    count: (alert) => alert.count,
    first_seen: (alert) => timeOrder(alert.first_seen),
    last_seen: (alert) => timeOrder(alert.last_seen),
    dedup_key: (alert) => alert.dedup_key,
    assignee: (alert) => alert.assignee,
    note_count: (alert) => alert.note_count,
    created_at: (alert) => timeOrder(alert.created_at),
    updated_at: (alert) => timeOrder(alert.updated_at),
    version: (alert) => alert.version,
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
};

/**
 * Compiles the filter for lists, replays and live subscriptions. @throws INVALID_REQUEST naming the field.
 */
export const compileAlertFilter = (filter: ListFilter): Predicate<Alert> => compileFilter(alertList, filter);
