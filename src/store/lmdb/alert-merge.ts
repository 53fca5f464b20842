import type { Alert } from '../../contract/resources/alert.ts';
import { severities } from '../../contract/vocabulary.ts';
import type { Finding } from '../../events/finding.ts';
import { addressBytes, printAddress } from '../../events/ip.ts';
import { limits } from '../../limits.ts';
import { uuid7 } from '../../uuid.ts';
import { priorityOf, riskScore } from '../alert-scoring.ts';
import { present } from '../present.ts';
import type { AlertUpdate } from '../store.ts';
import { type AlertTables, setSeverity } from './alert-change.ts';
import { type Interval, joinable, withOccurrence } from './intervals.ts';
import { keyHash } from './key-hash.ts';
import { countNewAlert } from './rule-windows.ts';
import type { AlertRow, RuleWindow } from './tables.ts';

/** An alert that this merge has touched. `row` is its own copy and changes with each finding. */
interface Draft {
  readonly before: AlertRow | undefined;
  readonly id: string;
  readonly alert: Alert;
  readonly raised: boolean;
  found: AlertRow['found'];
}

/** What the contract allows of tags; rules may carry more and longer ones. */
const maxTags = 100;
const maxTagLength = 100;

/** Half of the sample are the first events of an alert, half the latest: how it began and how it stands. */
const firstEvents = limits.maxAlertEventIds / 2;

/**
 * Merges the findings of one batch into alerts, within its transaction. Findings that share rule, source and
 * destination address are one alert while they recur within the window, in event time:
 *
 * 1. the alert whose interval, widened by the window at both ends, contains the finding counts it;
 * 2. if there is none, or all of them are resolved or archived, a new alert begins, unless
 * 3. the rule has begun limits.maxAlertsPerRuleWindow alerts in this window already: then one flood alert of the rule
 *    counts it, under a key without addresses and by the same two steps.
 *
 * Suppressed alerts go on counting. An analyst's severity stands until a finding is graver than all before.
 */
export class AlertMerge {
  readonly #to: AlertTables;
  readonly #windowMs: number;
  readonly #nowMs: number;
  readonly #drafts = new Map<string, Draft>();
  readonly #intervals = new Map<string, readonly Interval[]>();
  readonly #windows = new Map<string, readonly RuleWindow[]>();

  constructor(to: AlertTables, windowMs: number, nowMs: number) {
    this.#to = to;
    this.#windowMs = windowMs;
    this.#nowMs = nowMs;
  }

  /**
   * Findings of one batch come in order of their time.
   *
   * @param events - ids of those that show it
   */
  add(finding: Finding, events: readonly string[]): void {
    const source = canonicalAddress(finding.src_ip);
    const destination = canonicalAddress(finding.dst_ip);
    const key = keyHash('alert', finding.rule_source, finding.rule_id, source ?? '', destination ?? '');
    const joined = this.#openAlert(key, finding.timestamp);
    if (joined !== undefined) this.#count(key, joined, finding, events);
    else if (this.#admits(finding)) {
      const { title, description, src_port, dst_port, transport, domain } = finding;
      const ends = { src_ip: source, src_port, dst_ip: destination, dst_port, transport, domain };
      const draft = this.#begin(key, finding, { title, ...present({ description, ...ends }) });
      this.#count(key, draft, finding, events);
    } else this.#countFlood(finding, events);
  }

  /** Writes what was touched; one change for each alert, in the order in which they were first touched. */
  finish(): AlertUpdate[] {
    const { tables, alerts } = this.#to;
    for (const [key, intervals] of this.#intervals) tables.alertKeys.putSync(key, intervals);
    for (const [rule, windows] of this.#windows) tables.ruleWindows.putSync(rule, windows);
    return Array.from(this.#drafts.values(), ({ before, ...row }) =>
      alerts.save(before, row, { id: 'system' }, this.#nowMs),
    );
  }

  /** The alert of this key that an occurrence at `time` joins, if one is open. */
  #openAlert(key: string, time: number): Draft | undefined {
    for (const { alert_id } of joinable(this.#intervalsOf(key), time, this.#windowMs)) {
      const draft = this.#drafts.get(alert_id) ?? this.#take(alert_id);
      if (draft !== undefined) return draft;
    }
    return undefined;
  }

  #countFlood(finding: Finding, events: readonly string[]): void {
    const key = keyHash('flood', finding.rule_source, finding.rule_id);
    const draft =
      this.#openAlert(key, finding.timestamp) ??
      this.#begin(key, finding, {
        title: `Flood of alerts: ${finding.title}`,
        description: `This rule raised more than ${limits.maxAlertsPerRuleWindow} alerts within ${this.#windowMs / 60_000} minutes. What it found beyond them, between whatever addresses, is counted here.`,
      });
    this.#count(key, draft, finding, events);
  }

  #admits(finding: Finding): boolean {
    const rule = keyHash('rule', finding.rule_source, finding.rule_id);
    const windows = this.#windows.get(rule) ?? this.#to.tables.ruleWindows.get(rule) ?? [];
    const counted = countNewAlert(windows, finding.timestamp, this.#windowMs);
    if (counted === undefined) return false;
    this.#windows.set(rule, counted);
    return true;
  }

  #begin(key: string, finding: Finding, particulars: Partial<Alert> & Pick<Alert, 'title'>): Draft {
    const previous = this.#intervalsOf(key).at(-1);
    const earlier = previous === undefined ? undefined : this.#stored(previous.alert_id);
    const at = new Date(finding.timestamp).toISOString();
    const now = new Date(this.#nowMs).toISOString();
    const { rule_id, rule_name, rule_source, severity, category, confidence, mitre } = finding;
    const recurs = previous !== undefined && earlier !== undefined && isClosed(earlier);
    const alert: Alert = {
      ...particulars,
      rule_id,
      rule_name,
      rule_source,
      severity,
      status: 'new',
      priority: priorityOf(severity),
      risk_score: riskScore(severity, confidence),
      ...present({ category, confidence }),
      asset_ids: [],
      event_ids: [],
      ...(mitre === undefined
        ? {}
        : { mitre: { tactics: [...mitre.tactics], techniques: [...mitre.techniques] } }),
      count: 0,
      first_seen: at,
      last_seen: at,
      dedup_key: key,
      ...(recurs ? { previous_alert_id: previous.alert_id } : {}),
      tags: (finding.tags ?? [])
        .filter((tag) => tag !== '')
        .slice(0, maxTags)
        .map((tag) => tag.slice(0, maxTagLength)),
      note_count: 0,
      created_at: now,
      updated_at: now,
      version: 1,
    };
    const draft: Draft = {
      before: undefined,
      id: uuid7(this.#nowMs),
      alert,
      raised: false,
      found: finding.severity,
    };
    this.#drafts.set(draft.id, draft);
    return draft;
  }

  #count(key: string, draft: Draft, finding: Finding, events: readonly string[]): void {
    const { alert } = draft;
    const at = new Date(finding.timestamp).toISOString();
    alert.count++;
    if (at < alert.first_seen) alert.first_seen = at;
    if (at > alert.last_seen) alert.last_seen = at;
    for (const eventId of events) {
      // What goes on is told again with events that were told before.
      if (events.length > 1 && alert.event_ids.includes(eventId)) continue;
      if (alert.event_ids.length >= limits.maxAlertEventIds) alert.event_ids.splice(firstEvents, 1);
      alert.event_ids.push(eventId);
    }
    if (finding.confidence !== undefined && finding.confidence > (alert.confidence ?? -1))
      alert.confidence = finding.confidence;
    if (finding.evidence !== undefined && at >= alert.last_seen) alert.evidence = finding.evidence;
    const graver = rank(finding.severity) > rank(draft.found);
    if (graver) draft.found = finding.severity;
    const raises = graver && rank(finding.severity) > rank(alert.severity);
    setSeverity(alert, raises ? finding.severity : alert.severity);
    this.#intervals.set(key, withOccurrence(this.#intervalsOf(key), draft.id, finding.timestamp));
  }

  #intervalsOf(key: string): readonly Interval[] {
    return this.#intervals.get(key) ?? this.#to.tables.alertKeys.get(key) ?? [];
  }

  #stored(id: string): Alert | undefined {
    return this.#drafts.get(id)?.alert ?? this.#to.tables.alerts.get(id)?.alert;
  }

  /** A draft of a stored alert; undefined when it is resolved or archived. */
  #take(id: string): Draft | undefined {
    const before = this.#to.tables.alerts.get(id);
    if (before === undefined || isClosed(before.alert)) return undefined;
    const alert = { ...before.alert, event_ids: [...before.alert.event_ids] };
    const draft: Draft = { before, id, alert, raised: before.raised, found: before.found };
    this.#drafts.set(id, draft);
    return draft;
  }
}

const rank = (severity: Alert['severity']): number => severities.indexOf(severity);

const isClosed = (alert: Alert): boolean => alert.status === 'resolved' || alert.status === 'archived';

/** One spelling for each address, so that both ends of a key are compared as addresses; none for what is none. */
function canonicalAddress(text: string | undefined): string | undefined {
  const bytes = text === undefined ? undefined : addressBytes(text);
  return bytes === undefined ? undefined : printAddress(bytes);
}
