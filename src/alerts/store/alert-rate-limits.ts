import { keyHash } from '../../database/key-hash.ts';
import type { Finding } from '../../events/finding.ts';
import { limits } from '../../limits.ts';
import { atLeast } from './alerts.ts';
import { type Bound, countNewAlert, windowAt, withoutIds } from './rule-windows.ts';
import type { AlertTables, RuleWindow } from './tables.ts';

/** Facts about the hosts in findings. Addresses are canonical. */
export interface Hosts {
  isHome(ip: string): boolean;
  /** Returns the asset that currently has the address. */
  assetOf(ip: string): string | undefined;
  /** Returns whether the asset is of high or critical criticality. */
  isCritical(assetId: string): boolean;
}

export type EndName = 'src' | 'dst';

/** A source or destination of a finding that is a home host. */
export interface HomeEnd {
  readonly end: EndName;
  readonly ip: string;
}

/**
 * The scope of a summary alert: all rules of a source, a whole rule, a rule's findings outside the window
 * around the current time, or a rule at one host.
 */
export type FoldOf = 'source' | 'rule' | 'untimely' | HomeEnd;

/** Where to count a finding that has no alert yet: in a summary alert or in a new alert. */
export interface RateLimitDecision {
  /** The scope of the summary alert; undefined if a new alert may begin. */
  readonly fold: FoldOf | undefined;
  /** For a summary alert, the limits whose alerts it may take over; for a new alert, the limits that count it. */
  readonly bounds: readonly CountingBound[];
}

interface CountingBound extends Bound {
  readonly key: string;
  /**
   * Time of receipt in epoch milliseconds of the server clock, if the limit counts by receipt. Such a limit
   * stores no alert ids.
   */
  readonly at?: number;
}

/**
 * Maximum time between the beginning of an alert and the beginning of a flood, in event time, for the alert to
 * become part of the flood's summary alert.
 */
export const burstMs = 300_000;
const hourMs = 3_600_000;

/**
 * Limits the number of new alerts, per rule and window of event time. Limits are checked in this order:
 *
 * ```
 *   source   all rules of Sigma, of Suricata …, by the server clock         6,000 an hour → one for the source
 *   untimely events outside the window around now, by the server clock      600 a window → one for the rule
 *   host     the rule at one host of the home networks, whatever the peer   20 a window → one for this host
 *   rule     the rule                                                       50 a window → one for the rule
 *   burst    instead of `rule`, for severe findings at home hosts           50 in five minutes
 *   critical hosts whose asset is critical, once the rule is at its limit   100 a window → one for each host
 * ```
 *
 * A compromised sensor can name any number of rules, so the alerts of a source are also counted together. The
 * sensor can also set its clock so that each alert opens a new window. Therefore, findings far in the past or
 * the future are counted by the time of receipt, separately from current findings.
 *
 * Silenced findings are counted separately per silence, so they do not count towards the limits of visible
 * findings. Findings from a single sensor are counted per sensor, so a sensor cannot use up the limits of another
 * sensor.
 *
 * An instance serves one batch; the windows are written at the end of the batch.
 */
export class AlertRateLimits {
  readonly #tables: Pick<AlertTables, 'ruleWindows'>;
  readonly #windowMs: number;
  readonly #nowMs: number;
  readonly #hosts: Hosts;
  readonly #windows = new Map<string, readonly RuleWindow[]>();
  readonly #changed = new Set<string>();
  readonly #known = new Map<string, CountingBound>();

  constructor(tables: Pick<AlertTables, 'ruleWindows'>, windowMs: number, nowMs: number, hosts: Hosts) {
    this.#tables = tables;
    this.#windowMs = windowMs;
    this.#nowMs = nowMs;
    this.#hosts = hosts;
  }

  /**
   * Decides where to count a finding whose pair of addresses has no alert: in a summary alert or in a new alert.
   *
   * @param home - the addresses that are home hosts
   * @param scope - the silence that applies and the sensor of the finding, or ''
   * @param hasFold - whether there is a summary alert for this host
   */
  place(
    finding: Finding,
    home: readonly HomeEnd[],
    scope: string,
    hasFold: (end: HomeEnd) => boolean,
  ): RateLimitDecision {
    const { timestamp } = finding;
    const ofSource = this.#ofSource(finding, scope);
    if (this.#isFull(ofSource, timestamp)) return { fold: 'source', bounds: [] };
    const outOfWindow = this.#ofUntimely(finding, scope);
    for (const bound of outOfWindow) if (this.#isFull(bound, timestamp)) return { fold: 'untimely', bounds: [] };
    const hostBounds = home.map((end) => this.#ofHost(finding, end, scope));
    for (const [i, end] of home.entries())
      if (this.#isFull(hostBounds[i]!, timestamp)) return { fold: end, bounds: [hostBounds[i]!] };
    const ofRule = this.#ofRule(finding, home, scope);
    if (!this.#isFull(ofRule, timestamp))
      return { fold: undefined, bounds: [ofRule, ...hostBounds, ...outOfWindow, ofSource] };
    const critical = home.find((end) => this.isCritical(end));
    if (critical !== undefined) {
      const bound = this.#bound('critical', finding, [], scope, limits.maxCriticalHostsPerRuleWindow);
      if (hasFold(critical)) return { fold: critical, bounds: [] };
      if (!this.#isFull(bound, timestamp)) {
        this.count([bound], timestamp, critical.ip);
        return { fold: critical, bounds: [] };
      }
    }
    return { fold: 'rule', bounds: [ofRule] };
  }

  /** Returns whether a finding of this pair would still be counted by a summary alert. */
  folds(finding: Finding, home: readonly HomeEnd[], scope: string): boolean {
    const { timestamp } = finding;
    return (
      home.some((end) => this.#isFull(this.#ofHost(finding, end, scope), timestamp)) ||
      this.#isFull(this.#ofRule(finding, home, scope), timestamp)
    );
  }

  /**
   * Counts a new summary alert. Summary alerts for findings outside the current window have the same limit as
   * other alerts.
   */
  countFold(finding: Finding, scope: string, id: string): void {
    const bounds = [...this.#ofUntimely(finding, scope), this.#ofSource(finding, scope)];
    this.count(bounds, finding.timestamp, id);
  }

  /** Counts a new alert. */
  count(bounds: readonly CountingBound[], time: number, id: string): void {
    for (const { key, windowMs, at } of bounds)
      this.#set(key, countNewAlert(this.#of(key), at ?? time, windowMs, at === undefined ? id : undefined));
  }

  /** Removes and returns the ids of the alerts that these limits counted. */
  takeIds(bounds: readonly CountingBound[], time: number): string[] {
    const taken: string[] = [];
    for (const { key, windowMs } of bounds) {
      const windows = this.#of(key);
      const ids = windowAt(windows, time, windowMs)?.ids;
      if (ids === undefined) continue;
      taken.push(...ids);
      this.#set(key, withoutIds(windows, time, windowMs));
    }
    return taken;
  }

  /** Subtracts an alert that became part of a summary alert, so that the source may raise another alert. */
  uncount(alert: Pick<Finding, 'rule_source'>, scope: string): void {
    const { key, windowMs } = this.#ofSource(alert, scope);
    const windows = this.#of(key);
    const window = windowAt(windows, this.#nowMs, windowMs);
    if (window === undefined || window.alerts === 0) return;
    const less = { ...window, alerts: window.alerts - 1 };
    this.#set(
      key,
      windows.map((each) => (each === window ? less : each)),
    );
  }

  isCritical({ ip }: HomeEnd): boolean {
    const asset = this.#hosts.assetOf(ip);
    return asset !== undefined && this.#hosts.isCritical(asset);
  }

  write(): void {
    for (const key of this.#changed) this.#tables.ruleWindows.putSync(key, this.#windows.get(key)!);
  }

  #ofHost(finding: Finding, { end, ip }: HomeEnd, scope: string): CountingBound {
    return this.#bound('host', finding, [end, ip], scope, limits.maxAlertsPerHostWindow);
  }

  #ofSource({ rule_source }: Pick<Finding, 'rule_source'>, scope: string): CountingBound {
    const name = `source\n${rule_source}\n${scope}`;
    let bound = this.#known.get(name);
    if (bound === undefined) {
      const key = keyHash('source', rule_source, ...(scope === '' ? [] : [scope]));
      bound = { key, alerts: limits.maxAlertsPerSourceHour, windowMs: hourMs, at: this.#nowMs };
      this.#known.set(name, bound);
    }
    return bound;
  }

  /** Returns the limits for findings outside the current window; empty for current findings. */
  #ofUntimely(finding: Finding, scope: string): readonly CountingBound[] {
    if (Math.abs(finding.timestamp - this.#nowMs) <= this.#windowMs) return [];
    const bound = this.#bound('untimely', finding, [], scope, limits.maxUntimelyAlertsPerRuleWindow);
    return [{ ...bound, at: this.#nowMs }];
  }

  #ofRule(finding: Finding, home: readonly HomeEnd[], scope: string): CountingBound {
    return home.length > 0 && atLeast(finding.severity, 'high')
      ? this.#bound('burst', finding, [], scope, limits.maxGraveAlertsPerBurst, burstMs)
      : this.#bound('rule', finding, [], scope, limits.maxAlertsPerRuleWindow);
  }

  #bound(
    kind: string,
    { rule_source, rule_id }: Finding,
    more: readonly string[],
    scope: string,
    alerts: number,
    windowMs: number = this.#windowMs,
  ): CountingBound {
    const name = `${kind}\n${rule_source}\n${rule_id}\n${more}\n${scope}`;
    let bound = this.#known.get(name);
    if (bound === undefined) {
      const key = keyHash(kind, rule_source, rule_id, ...more, ...(scope === '' ? [] : [scope]));
      bound = { key, alerts, windowMs };
      this.#known.set(name, bound);
    }
    return bound;
  }

  #isFull({ key, alerts, windowMs, at }: CountingBound, time: number): boolean {
    const windows = this.#of(key);
    return windows.length > 0 && (windowAt(windows, at ?? time, windowMs)?.alerts ?? 0) >= alerts;
  }

  #of(key: string): readonly RuleWindow[] {
    let windows = this.#windows.get(key);
    if (windows === undefined) {
      // Windows in the future (from sensors whose clocks are ahead, or created before the server clock was
      // set back) would displace the windows of current findings.
      const latest = this.#nowMs + this.#windowMs;
      windows = (this.#tables.ruleWindows.get(key) ?? []).filter(({ start }) => start <= latest);
      this.#windows.set(key, windows);
    }
    return windows;
  }

  #set(key: string, windows: readonly RuleWindow[]): void {
    this.#windows.set(key, windows);
    this.#changed.add(key);
  }
}
