import type { Finding } from '../../events/finding.ts';
import { limits } from '../../limits.ts';
import { atLeast } from './alerts.ts';
import { keyHash } from './key-hash.ts';
import { type Bound, countNewAlert, windowAt, withoutIds } from './rule-windows.ts';
import type { RuleWindow, Tables } from './tables.ts';

/** What is known of the hosts that findings are about. Addresses are canonical. */
export interface Hosts {
  isHome(ip: string): boolean;
  /** Whose address it is now. */
  assetOf(ip: string): string | undefined;
  /** Whether the asset is of high or critical criticality. */
  isCritical(assetId: string): boolean;
}

export type EndName = 'src' | 'dst';

/** A host of a home network at one end of a finding. */
export interface HomeEnd {
  readonly end: EndName;
  readonly ip: string;
}

/**
 * What an alert stands for that isn't of one pair of addresses: all rules of a source, a whole rule, or what it found of
 * another time, or a rule at one host.
 */
export type FoldOf = 'source' | 'rule' | 'untimely' | HomeEnd;

/** Where an alert goes that would be a new one. */
export interface Place {
  /** Undefined: it may begin. */
  readonly fold: FoldOf | undefined;
  /** What is full, and so made it a part of something larger; and what counts it where it begins. */
  readonly bounds: readonly Counted[];
}

interface Counted extends Bound {
  readonly key: string;
  /** Epoch milliseconds of our clock, where it counts by that, and what it counted is taken up by nothing. */
  readonly at?: number;
}

/** What alerts that came this long before a flood, in event time, are no part of. */
export const burstMs = 300_000;
const hourMs = 3_600_000;

/**
 * How many alerts may begin, of one rule by windows of event time. Asked in this order:
 *
 * ```
 *   source   of all rules of Sigma, of Suricata …, by our clock                    6,000 an hour → one of the source
 *   untimely of what happened in none of the hours around now, by our clock        600 a window → one of the rule
 *   host     of the rule at one host of the home networks, with whatever others    20 a window → one of this host
 *   rule     of the rule                                                           50 a window → one of the rule
 *   burst    the same of grave findings at home hosts                              50 in five minutes
 *   critical of hosts whose asset is critical, where the rule has no more          100 a window → one of each host
 * ```
 *
 * Who speaks for a sensor can name as many rules as he likes: so those of a source are counted together, too. Who sets its
 * clock opens a window with each alert: so what is old, or of the future, is counted as it comes. It takes nothing from
 * what happens now.
 *
 * Silenced findings are counted separately, by silence, so that they use up no bound of visible ones. Findings that
 * rest on one sensor are counted by sensor: no sensor can use up the bounds of another.
 *
 * One batch's; the windows are written at its end.
 */
export class AlertBounds {
  readonly #tables: Pick<Tables, 'ruleWindows'>;
  readonly #windowMs: number;
  readonly #nowMs: number;
  readonly #hosts: Hosts;
  readonly #windows = new Map<string, readonly RuleWindow[]>();
  readonly #changed = new Set<string>();
  readonly #known = new Map<string, Counted>();

  constructor(tables: Pick<Tables, 'ruleWindows'>, windowMs: number, nowMs: number, hosts: Hosts) {
    this.#tables = tables;
    this.#windowMs = windowMs;
    this.#nowMs = nowMs;
    this.#hosts = hosts;
  }

  /**
   * Where a finding goes whose pair of addresses has no alert.
   *
   * @param home - its ends that are home hosts
   * @param scope - the silence that it is under and the sensor that it rests on, or ''
   * @param hasFold - whether an alert of this host is there that counts it
   */
  place(
    finding: Finding,
    home: readonly HomeEnd[],
    scope: string,
    hasFold: (end: HomeEnd) => boolean,
  ): Place {
    const { timestamp } = finding;
    const ofSource = this.#ofSource(finding, scope);
    if (this.#isFull(ofSource, timestamp)) return { fold: 'source', bounds: [] };
    const untimely = this.#ofUntimely(finding, scope);
    for (const bound of untimely) if (this.#isFull(bound, timestamp)) return { fold: 'untimely', bounds: [] };
    const hostBounds = home.map((end) => this.#ofHost(finding, end, scope));
    for (const [i, end] of home.entries())
      if (this.#isFull(hostBounds[i]!, timestamp)) return { fold: end, bounds: [hostBounds[i]!] };
    const ofRule = this.#ofRule(finding, home, scope);
    if (!this.#isFull(ofRule, timestamp))
      return { fold: undefined, bounds: [ofRule, ...hostBounds, ...untimely, ofSource] };
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

  /** Whether a finding of this pair would still not get an alert of its own. */
  folds(finding: Finding, home: readonly HomeEnd[], scope: string): boolean {
    const { timestamp } = finding;
    return (
      home.some((end) => this.#isFull(this.#ofHost(finding, end, scope), timestamp)) ||
      this.#isFull(this.#ofRule(finding, home, scope), timestamp)
    );
  }

  /** An alert began that stands for many: of those of another time there are no more than of others. */
  countFold(finding: Finding, scope: string, id: string): void {
    const bounds = [...this.#ofUntimely(finding, scope), this.#ofSource(finding, scope)];
    this.count(bounds, finding.timestamp, id);
  }

  /** An alert began. */
  count(bounds: readonly Counted[], time: number, id: string): void {
    for (const { key, windowMs, at } of bounds)
      this.#set(key, countNewAlert(this.#of(key), at ?? time, windowMs, at === undefined ? id : undefined));
  }

  /** The alerts that these bounds counted: told once. */
  takeIds(bounds: readonly Counted[], time: number): string[] {
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

  /** An alert that began is part of one that stands for many: of its source there may be another. */
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

  #ofHost(finding: Finding, { end, ip }: HomeEnd, scope: string): Counted {
    return this.#bound('host', finding, [end, ip], scope, limits.maxAlertsPerHostWindow);
  }

  #ofSource({ rule_source }: Pick<Finding, 'rule_source'>, scope: string): Counted {
    const name = `source\n${rule_source}\n${scope}`;
    let bound = this.#known.get(name);
    if (bound === undefined) {
      const key = keyHash('source', rule_source, ...(scope === '' ? [] : [scope]));
      bound = { key, alerts: limits.maxAlertsPerSourceHour, windowMs: hourMs, at: this.#nowMs };
      this.#known.set(name, bound);
    }
    return bound;
  }

  /** None for what happens now. */
  #ofUntimely(finding: Finding, scope: string): readonly Counted[] {
    if (Math.abs(finding.timestamp - this.#nowMs) <= this.#windowMs) return [];
    const bound = this.#bound('untimely', finding, [], scope, limits.maxUntimelyAlertsPerRuleWindow);
    return [{ ...bound, at: this.#nowMs }];
  }

  #ofRule(finding: Finding, home: readonly HomeEnd[], scope: string): Counted {
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
  ): Counted {
    const name = `${kind}\n${rule_source}\n${rule_id}\n${more}\n${scope}`;
    let bound = this.#known.get(name);
    if (bound === undefined) {
      const key = keyHash(kind, rule_source, rule_id, ...more, ...(scope === '' ? [] : [scope]));
      bound = { key, alerts, windowMs };
      this.#known.set(name, bound);
    }
    return bound;
  }

  #isFull({ key, alerts, windowMs, at }: Counted, time: number): boolean {
    const windows = this.#of(key);
    return windows.length > 0 && (windowAt(windows, at ?? time, windowMs)?.alerts ?? 0) >= alerts;
  }

  #of(key: string): readonly RuleWindow[] {
    let windows = this.#windows.get(key);
    if (windows === undefined) {
      // Those of the future, of sensors whose clocks are ahead or from before ours was set back, would take the place of
      // those that what happens now belongs to.
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
