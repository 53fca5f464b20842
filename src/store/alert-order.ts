import { type Alert, alertStatuses, priorities } from '../contract/resources/alert.ts';
import { severities } from '../contract/resources/common.ts';
import { invalidField } from '../errors.ts';
import { addressBytes } from '../events/ip.ts';
import type { SortOrder } from './store.ts';

/** What a list is sorted by: a number or a text; undefined where the alert lacks the attribute. */
export type SortValue = number | string | undefined;

export interface Place {
  readonly value: SortValue;
  readonly id: string;
}

const rank = (scale: readonly string[], value: string | undefined) =>
  value === undefined ? undefined : scale.indexOf(value);

/** An address as text that sorts like its number. */
const addressOrder = (address: string | undefined) => {
  const bytes = address === undefined ? undefined : addressBytes(address);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('hex');
};

/** Attributes that lists sort by. Scales sort by rank, addresses by number, times and texts by code unit. */
const sortValues = {
  severity: (alert) => rank(severities, alert.severity),
  status: (alert) => rank(alertStatuses, alert.status),
  priority: (alert) => rank(priorities, alert.priority),
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
  first_seen: (alert) => Date.parse(alert.first_seen),
  last_seen: (alert) => Date.parse(alert.last_seen),
  dedup_key: (alert) => alert.dedup_key,
  assignee: (alert) => alert.assignee,
  note_count: (alert) => alert.note_count,
  created_at: (alert) => Date.parse(alert.created_at),
  updated_at: (alert) => Date.parse(alert.updated_at),
  version: (alert) => alert.version,
} satisfies Record<string, (alert: Alert) => SortValue>;

/** @throws INVALID_REQUEST for an attribute that alerts are not sorted by. */
export function sortValueOf(attribute: string): (alert: Alert) => SortValue {
  if (!Object.hasOwn(sortValues, attribute))
    throw invalidField('sort', `${attribute} is not an attribute that alerts are sorted by`);
  return sortValues[attribute as keyof typeof sortValues];
}

/** A total order: alerts without the attribute come last either way, equal ones by id in the same direction. */
export function comparePlaces(order: SortOrder): (a: Place, b: Place) => number {
  const sign = order === 'asc' ? 1 : -1;
  return (a, b) => {
    if (a.value === b.value) return sign * compare(a.id, b.id);
    if (a.value === undefined) return 1;
    if (b.value === undefined) return -1;
    return sign * compare(a.value, b.value);
  };
}

function compare<T extends number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
