import { type Alert, alertStatuses, priorities, ruleSources, verdicts } from '../contract/resources/alert.ts';
import { severities } from '../contract/resources/common.ts';
import { invalidField } from '../errors.ts';
import type { FilterTerm } from '../events/filter.ts';
import { addressBytes, addressRanges, compareAddress, printAddress } from '../events/ip.ts';
import type { AlertListQuery } from './store.ts';

export type AlertFilter = Pick<AlertListQuery, 'from' | 'to' | 'q' | 'min_severity' | 'terms'>;
export type AlertPredicate = (alert: Alert) => boolean;

type Values = FilterTerm['values'];
type TermCompiler = (field: string, values: Values) => AlertPredicate;

/**
 * Whether an alert is wanted: for lists, replays and live subscriptions alike. `from` and `to` bound `last_seen`.
 *
 * @throws INVALID_REQUEST naming an unknown field or a value that the field cannot have.
 */
export function compileAlertFilter(filter: AlertFilter): AlertPredicate {
  const parts: AlertPredicate[] = [];
  const { from, to, q, min_severity } = filter;
  if (from !== undefined) parts.push((alert) => Date.parse(alert.last_seen) >= from);
  if (to !== undefined) parts.push((alert) => Date.parse(alert.last_seen) < to);
  if (min_severity !== undefined) {
    const wanted = severities.indexOf(min_severity);
    parts.push((alert) => severities.indexOf(alert.severity) >= wanted);
  }
  for (const { field, values } of filter.terms) parts.push(compileTerm(field, values));
  if (q !== undefined && q !== '') parts.push(containing(q));
  return (alert) => parts.every((part) => part(alert));
}

/** True when every alert is wanted. */
export function wantsAll(filter: AlertFilter): boolean {
  return (
    filter.from === undefined &&
    filter.to === undefined &&
    filter.min_severity === undefined &&
    filter.terms.length === 0 &&
    (filter.q === undefined || filter.q === '')
  );
}

const text =
  (read: (alert: Alert) => string | undefined): TermCompiler =>
  (_field, values) => {
    const wanted = new Set(values.map(String));
    return (alert) => {
      const value = read(alert);
      return value !== undefined && wanted.has(value);
    };
  };

const oneOf =
  (allowed: readonly string[], read: (alert: Alert) => string | undefined): TermCompiler =>
  (field, values) => {
    for (const value of values)
      if (!allowed.includes(String(value))) throw invalidField(field, `must be one of ${allowed.join(', ')}`);
    return text(read)(field, values);
  };

const number =
  (...reads: ((alert: Alert) => number | undefined)[]): TermCompiler =>
  (field, values) => {
    const wanted = new Set(
      values.map((value) => {
        if (typeof value === 'boolean' || value === '' || !Number.isFinite(Number(value)))
          throw invalidField(field, 'must be a number');
        return Number(value);
      }),
    );
    return (alert) =>
      reads.some((read) => {
        const value = read(alert);
        return value !== undefined && wanted.has(value);
      });
  };

const members =
  (read: (alert: Alert) => readonly string[] | undefined): TermCompiler =>
  (_field, values) => {
    const wanted = new Set(values.map(String));
    return (alert) => read(alert)?.some((member) => wanted.has(member)) ?? false;
  };

const address =
  (...reads: ((alert: Alert) => string | undefined)[]): TermCompiler =>
  (field, values) => {
    const within = values.map((value) => addressTest(field, String(value)));
    return (alert) =>
      reads.some((read) => {
        const value = read(alert);
        return value !== undefined && within.some((test) => test(value));
      });
  };

/** Alerts hold addresses in one spelling, so that a single one is compared as text. */
function addressTest(field: string, wanted: string): (value: string) => boolean {
  const ranges = addressRanges(wanted);
  if (ranges === undefined) throw invalidField(field, 'must be an IP address or a CIDR block');
  const [only] = ranges;
  if (only !== undefined && ranges.length === 1 && compareAddress(only.first, 0, only.last, 0) === 0) {
    const canonical = printAddress(only.first);
    return (value) => value === canonical;
  }
  return (value) => {
    const bytes = addressBytes(value);
    if (bytes === undefined) return false;
    return ranges.some(
      ({ first, last }) => compareAddress(first, 0, bytes, 0) <= 0 && compareAddress(bytes, 0, last, 0) <= 0,
    );
  };
}

/** Attributes that lists filter by. */
const terms = {
  severity: oneOf(severities, (alert) => alert.severity),
  status: oneOf(alertStatuses, (alert) => alert.status),
  verdict: oneOf(verdicts, (alert) => alert.verdict),
  priority: oneOf(priorities, (alert) => alert.priority),
  rule_source: oneOf(ruleSources, (alert) => alert.rule_source),
  rule_id: text((alert) => alert.rule_id),
  rule_name: text((alert) => alert.rule_name),
  title: text((alert) => alert.title),
  category: text((alert) => alert.category),
  transport: text((alert) => alert.transport),
  domain: text((alert) => alert.domain),
  assignee: text((alert) => alert.assignee),
  dedup_key: text((alert) => alert.dedup_key),
  previous_alert_id: text((alert) => alert.previous_alert_id),
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
} satisfies Record<string, TermCompiler>;

function compileTerm(field: string, values: Values): AlertPredicate {
  if (!Object.hasOwn(terms, field))
    throw invalidField(field, 'is not an attribute that alerts are filtered by');
  return terms[field as keyof typeof terms](field, values);
}

/** Case-insensitive substring of the alert's names. */
function containing(q: string): AlertPredicate {
  const wanted = q.toLowerCase();
  const has = (value: string | undefined) => value?.toLowerCase().includes(wanted) ?? false;
  return (alert) =>
    has(alert.title) ||
    has(alert.description) ||
    has(alert.rule_name) ||
    has(alert.rule_id) ||
    has(alert.category) ||
    has(alert.domain) ||
    has(alert.src_ip) ||
    has(alert.dst_ip) ||
    has(alert.assignee) ||
    alert.tags.some(has);
}
