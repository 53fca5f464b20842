import type { Alert } from '../../contract/resources/alert.ts';
import { keyHash } from '../../database/key-hash.ts';
import { omitUndefined } from '../../database/omit-undefined.ts';
import type { Finding } from '../../events/finding.ts';
import type { IdentityTables } from '../../identities/store/tables.ts';
import { priorityOf, riskScore } from '../../inventory/alert-scoring.ts';
import { limits } from '../../limits.ts';
import { addressBytes, printAddress } from '../../net/ip.ts';
import { uuid7 } from '../../uuid.ts';
import type { CompiledSilence } from '../silence-match.ts';
import type { AlertParts } from './alert-change.ts';
import { AlertDraft, isClosed, type LazyEventId } from './alert-draft.ts';
import { AlertRateLimits, burstMs, type FoldOf, type HomeEnd, type Hosts } from './alert-rate-limits.ts';
import { type Interval, joinable, withOccurrence } from './intervals.ts';
import type { Silences } from './silences.ts';

export interface MergeParts extends AlertParts {
  readonly tables: AlertParts['tables'] & Pick<IdentityTables, 'principals'>;
  readonly silences: Pick<Silences, 'any' | 'find' | 'get'>;
  readonly hosts: Hosts;
}

/** The alerts of one deduplication key and the intervals in which they were active, copied for this batch. */
interface Series {
  readonly key: string;
  intervals: readonly Interval[];
}

/** State shared by findings with the same rule, source and destination address. Created once per batch. */
interface Pair {
  readonly series: Series;
  readonly source: string | undefined;
  readonly destination: string | undefined;
  /** The addresses that are home hosts, destination first. */
  readonly home: readonly HomeEnd[];
  /** The last silence lookup and its subject. */
  asked?: Pick<Finding, 'domain' | 'category' | 'severity'> & {
    readonly silence: CompiledSilence | undefined;
  };
}

/** The source or destination of a finding. */
interface End {
  /** The canonical form of the address, for comparisons; undefined if the text is not an address. */
  readonly ip: string | undefined;
  readonly isHome: boolean;
}

const bothEnds = ['src_ip', 'dst_ip'] as const;

/** Maximum tags of an alert in the API contract. Rules may have more tags. */
const maxTags = 100;
/** Maximum characters of a tag in the API contract. Rules may have longer tags. */
const maxTagLength = 100;

/**
 * Merges the findings of one batch into alerts, within its transaction. Findings that share rule, source and
 * destination address, sensor and subject are one alert while they recur within the window, in event time.
 * Findings of a correlation share rule, group and sensor instead:
 *
 * 1. the alert whose interval, widened by the window at both ends, contains the finding counts the finding;
 * 2. if no alert contains the finding, or only resolved or archived alerts do, a new alert begins, unless
 * 3. too many alerts of the rule began in this window. In that case, a summary alert counts the finding.
 *
 * **Floods.** An attacker who forges packets can make a rule match between arbitrary addresses. More alerts than an
 * analyst can work on become one summary alert. A summary alert covers alerts with the same address of a home host,
 * because such an address is the hardest to forge:
 *
 * ```
 *   203.0.113.* → 10.0.0.5    above 20 of the rule at 10.0.0.5: one alert for the rule at 10.0.0.5
 *   203.0.113.* → 10.0.*.*    above 50 of the rule: one alert for the rule
 * ```
 *
 * An attacker who hides an attack on 10.0.0.5 among the same attack from forged sources still causes one alert
 * about 10.0.0.5. An attack forged for fifty hosts causes one alert for the rule, with the number of hosts and
 * the first hosts; critical assets still keep separate alerts. Alerts that began more than five minutes before the
 * flood, or that a user works on, are not changed. The flood's first alerts are suppressed and name the summary alert
 * (`folded_into`); unpublished alerts of the same batch become part of the summary alert. After the flood, the next
 * finding of a suppressed alert makes the alert new again. Severe findings at home hosts have a higher limit: 50 in
 * five minutes instead of in a window, so that each host of an outbreak gets an alert. Addresses are counted by
 * sketches, so that an alert takes a few kilobytes regardless of its size.
 *
 * **Sensors.** A finding from a single sensor is counted only in alerts of this sensor, and only against the
 * limits of this sensor. Therefore a sensor cannot hide another sensor's findings in its own alerts or in a
 * flood.
 *
 * **Silences.** An alert is suppressed, and names the silence, if all its findings were silenced. A visible alert is
 * suppressed by a silence that matches the alert as a whole and is newer than its last visible finding. A finding that
 * no silence matches makes a suppressed alert new again. Alerts that a user works on or has suppressed are not changed.
 *
 * Suppressed alerts continue to count findings. A severity set by an analyst stays until a finding is more
 * severe than all earlier findings.
 */
export class AlertDeduplicator {
  readonly #to: MergeParts;
  readonly #windowMs: number;
  readonly #nowMs: number;
  readonly #bounds: AlertRateLimits;
  readonly #drafts = new Map<string, AlertDraft>();
  /** Alerts that are resolved, archived or not stored. */
  readonly #closed = new Set<string>();
  readonly #changed = new Set<Series>();
  /** Pairs by rule, then by the addresses as spelled in findings. */
  readonly #pairs = new Map<string, Map<string, Pair>>();
  readonly #folds = new Map<string, Series>();
  /**
   * Series of pairs, by key. Several pairs may share a series, because the key of some findings includes only
   * one address.
   */
  readonly #series = new Map<string, Series>();
  /** Series that began in this batch, by alert id. */
  readonly #begun = new Map<string, Series>();
  readonly #ends = new Map<string, End>();
  readonly #hasSilences: boolean;

  constructor(to: MergeParts, windowMs: number, nowMs: number) {
    this.#to = to;
    this.#windowMs = windowMs;
    this.#nowMs = nowMs;
    this.#bounds = new AlertRateLimits(to.tables, windowMs, nowMs, to.hosts);
    this.#hasSilences = to.silences.any;
  }

  /**
   * Adds a finding. Findings of one batch must be added in order of time.
   *
   * @param events - ids of the events that show the finding, or functions that create the ids, called at
   * `finish` at the latest
   */
  add(finding: Finding, events: readonly LazyEventId[]): void {
    const { pair, begins } = this.#pairFor(finding);
    const silence = this.#hasSilences ? this.#silenceOf(pair, finding) : undefined;
    const joined = this.#openAlert(pair.series, finding);
    if (joined !== undefined) {
      this.#count(pair.series, joined, finding, events);
      this.#stand(joined, pair, finding, silence);
      return;
    }
    // A user may have closed the alert, or it is part of a flood. A finding that only continues a reported activity
    // does not begin another alert.
    if (!begins && (finding.continues === 'grown' || finding.continues === 'ongoing')) return;
    const scope = scopeOf(silence?.id, finding.sensors);
    const place = this.#bounds.place(finding, pair.home, scope, (end) => {
      const series = this.#foldSeries(finding, end, scope);
      return this.#openAlert(series, finding) !== undefined;
    });
    if (place.fold !== undefined) {
      const fold = this.#countFold(place.fold, pair, finding, events, silence);
      for (const id of this.#bounds.takeIds(place.bounds, finding.timestamp))
        this.#takeUp(id, fold, place.fold, finding.began ?? finding.timestamp);
      return;
    }
    const { title, description, src_port, dst_port, transport, domain } = finding;
    const ends = { src_ip: pair.source, src_port, dst_ip: pair.destination, dst_port, transport, domain };
    const particulars = { title, ...omitUndefined({ description, ...ends }) };
    const draft = this.#begin(pair.series, finding, particulars, silence, false);
    this.#bounds.count(place.bounds, finding.timestamp, draft.id);
    this.#count(pair.series, draft, finding, events);
  }

  /** Writes the alerts that the batch changed: one change per alert, in the order of their first change. */
  finish(): void {
    const { tables, alerts } = this.#to;
    for (const { key, intervals } of this.#changed) if (intervals.length > 0) tables.alertKeys.putSync(key, intervals);
    this.#bounds.write();
    for (const draft of this.#drafts.values())
      alerts.save(
        draft.before,
        draft.row((id) => tables.principals.getSound(id)?.name),
        { id: 'system' },
        this.#nowMs,
      );
  }

  #pairOf(finding: Finding): Pair {
    const { rule_source, rule_id, src_ip = '', dst_ip = '', about = '', group, keyed_by = bothEnds, sensors } = finding;
    const basis = basisOf(sensors);
    const rule = `${rule_source}\n${rule_id}\n${keyed_by.length}`;
    let pairs = this.#pairs.get(rule);
    if (pairs === undefined) {
      pairs = new Map();
      this.#pairs.set(rule, pairs);
    }
    const ends = group === undefined ? `${src_ip}\n${dst_ip}\n${basis}\n${about}` : `${basis}\ngroup ${group}`;
    const known = pairs.get(ends);
    if (known !== undefined) return known;
    const source = this.#end(src_ip);
    const destination = this.#end(dst_ip);
    // Different spellings of the same addresses have the same name.
    const name = group === undefined ? `${source.ip ?? ''}\n${destination.ip ?? ''}\n${basis}\n${about}` : ends;
    let pair = name === ends ? undefined : pairs.get(name);
    if (pair === undefined) {
      const keyEnd = (name: 'src_ip' | 'dst_ip', { ip = '' }: End) => (keyed_by.includes(name) ? ip : '');
      const parts = ['alert', rule_source, rule_id];
      if (group === undefined) parts.push(keyEnd('src_ip', source), keyEnd('dst_ip', destination));
      else parts.push('group', group);
      if (about !== '') parts.push(about);
      const key = keyHash(...parts, ...(basis === '' ? [] : ['sensor', basis]));
      pair = this.#newPair(key, source, destination);
      pairs.set(name, pair);
    }
    if (name !== ends) pairs.set(ends, pair);
    return pair;
  }

  /**
   * Returns the pair of a finding. If other sensors continue to report an activity, it stays in its first open alert. A
   * suppressed or resolved alert does not count findings from a sensor that it does not name: another alert begins for
   * that sensor.
   */
  #pairFor(finding: Finding): { readonly pair: Pair; readonly begins: boolean } {
    const { sensors = [], continues } = finding;
    const bases = continues === undefined ? [sensors] : [sensors, ['', ''], ...sensors.map((one) => [one])];
    const pairs = bases.map((each) => this.#pairOf({ ...finding, sensors: each }));
    if (finding.rule_source !== 'behaviour') {
      const isOpen = ({ series }: Pair) => this.#openAlert(series, finding) !== undefined;
      return { pair: (continues === undefined ? undefined : pairs.find(isOpen)) ?? pairs[0]!, begins: false };
    }
    let lacking: readonly string[] | undefined;
    for (const pair of pairs)
      for (const alert of this.#alertsAround(pair.series, finding)) {
        const missing = lackingIn(alert, sensors);
        // A finding that does not continue a reported activity never joins a closed alert.
        if (isClosed(alert) && continues === undefined) continue;
        const isOpen = !isClosed(alert) && alert.status !== 'suppressed';
        if (isOpen || (missing.length === 0 && !isClosed(alert))) return { pair, begins: false };
        lacking = (lacking ?? sensors).filter((sensor) => missing.includes(sensor));
      }
    const [own] = lacking ?? [];
    if (own === undefined) return { pair: pairs[0]!, begins: false };
    return { pair: this.#pairOf({ ...finding, sensors: [own] }), begins: true };
  }

  /** Yields the alerts of a series that an occurrence would join, in any status. */
  *#alertsAround({ intervals }: Series, finding: Finding): Generator<Alert> {
    const windowMs = Math.max(this.#windowMs, finding.lasts_ms ?? 0);
    for (const { alert_id } of joinable(intervals, beginningOf(finding), finding.timestamp, windowMs)) {
      const draft = this.#drafts.get(alert_id);
      const alert = draft?.alert ?? this.#to.tables.alerts.get(alert_id)?.alert;
      if (alert === undefined) continue;
      yield draft === undefined ? alert : { ...alert, sensors: draft.sensors.map((id) => ({ id, count: 1 })) };
    }
  }

  #newPair(key: string, source: End, destination: End): Pair {
    const home: HomeEnd[] = [];
    if (destination.isHome) home.push({ end: 'dst', ip: destination.ip! });
    if (source.isHome) home.push({ end: 'src', ip: source.ip! });
    const series = this.#series.get(key) ?? { key, intervals: this.#to.tables.alertKeys.get(key) ?? [] };
    this.#series.set(key, series);
    return { series, source: source.ip, destination: destination.ip, home };
  }

  /** Returns the series of summary alerts. */
  #foldSeries({ rule_source, rule_id }: Finding, of: FoldOf, scope: string): Series {
    const end = typeof of === 'string' ? of : `${of.end}\n${of.ip}`;
    const name = `${rule_source}\n${rule_id}\n${end}\n${scope}`;
    const known = this.#folds.get(name);
    if (known !== undefined) return known;
    const parts = ['flood', rule_source, rule_id];
    if (of === 'untimely') parts.push(of);
    else if (of !== 'rule' && of !== 'source') parts.push(of.end, of.ip);
    if (scope !== '') parts.push(scope);
    const key = keyHash(...parts);
    const series: Series = { key, intervals: this.#to.tables.alertKeys.get(key) ?? [] };
    this.#folds.set(name, series);
    return series;
  }

  #end(text: string): End {
    const known = this.#ends.get(text);
    if (known !== undefined) return known;
    const bytes = addressBytes(text);
    const ip = bytes === undefined ? undefined : printAddress(bytes);
    const end = { ip, isHome: ip !== undefined && this.#to.hosts.isHome(ip) };
    this.#ends.set(text, end);
    return end;
  }

  #silenceOf(pair: Pair, finding: Finding): CompiledSilence | undefined {
    const { asked } = pair;
    const { rule_id, rule_source, domain, category, severity } = finding;
    if (asked !== undefined && asked.severity === severity && asked.domain === domain && asked.category === category)
      return asked.silence;
    const ends = omitUndefined({ src_ip: pair.source, dst_ip: pair.destination, domain, category });
    const subject = { rule_id, rule_source, severity, ...ends };
    const silence = this.#to.silences.find(subject, this.#to.hosts.assetOf, this.#nowMs);
    pair.asked = { severity, ...omitUndefined({ domain, category }), silence };
    return silence;
  }

  /** Returns the open alert of this series that a finding joins; undefined without such an alert. */
  #openAlert({ intervals }: Series, finding: Finding): AlertDraft | undefined {
    if (intervals.length === 0) return undefined;
    const { timestamp: time, lasts_ms = 0 } = finding;
    const from = beginningOf(finding);
    const windowMs = Math.max(this.#windowMs, lasts_ms);
    const [only] = intervals;
    // The usual case needs no sorting, and takes a fifth of the time on this fast path.
    if (intervals.length === 1) {
      const { first, last, alert_id } = only!;
      return time >= first - windowMs && from <= last + windowMs ? this.#draft(alert_id) : undefined;
    }
    for (const { alert_id } of joinable(intervals, from, time, windowMs)) {
      const draft = this.#draft(alert_id);
      if (draft !== undefined) return draft;
    }
    return undefined;
  }

  #countFold(
    of: FoldOf,
    pair: Pair,
    finding: Finding,
    events: readonly LazyEventId[],
    silence: CompiledSilence | undefined,
  ): AlertDraft {
    const subject = of === 'source' ? ofSource(finding) : finding;
    const scope = scopeOf(silence?.id, finding.sensors);
    const series = this.#foldSeries(subject, of, scope);
    // Findings of any event time share one summary alert while new findings keep arriving.
    const isOfAnyTime = of === 'untimely' || of === 'source';
    const at = isOfAnyTime ? this.#nowMs : finding.timestamp;
    let draft = this.#openAlert(series, { ...subject, timestamp: at });
    if (draft === undefined) {
      draft = this.#begin(series, subject, particularsOf(of, subject, this.#windowMs), silence, true);
      if (!isOfAnyTime) this.#bounds.countFold(finding, scope, draft.id);
    }
    draft.fold?.add(pair.source, pair.destination);
    this.#count(series, draft, finding, events, at);
    return draft;
  }

  /** Makes an alert from the flood's first minutes part of the flood's summary alert. */
  #takeUp(id: string, fold: AlertDraft, of: FoldOf, time: number): void {
    const draft = this.#draft(id);
    if (draft === undefined || !isUntouched(draft.alert) || time - draft.first > burstMs) return;
    const { src_ip, dst_ip, previous_alert_id } = draft.alert;
    if (of === 'rule' && this.#isOfCriticalHost(src_ip, dst_ip)) return;
    fold.fold?.add(src_ip, dst_ip);
    this.#bounds.uncount(draft.alert, scopeOf(draft.alert.silence_id, draft.sensors));
    const series = this.#begun.get(id);
    if (series === undefined || previous_alert_id !== undefined) {
      draft.alert.status = 'suppressed';
      draft.alert.folded_into = fold.id;
      return;
    }
    fold.absorb(draft);
    this.#drafts.delete(id);
    series.intervals = series.intervals.filter(({ alert_id }) => alert_id !== id);
  }

  #isOfCriticalHost(...ips: readonly (string | undefined)[]): boolean {
    return ips.some((ip) => ip !== undefined && this.#end(ip).isHome && this.#bounds.isCritical({ end: 'dst', ip }));
  }

  #begin(
    series: Series,
    finding: Finding,
    particulars: Partial<Alert> & Pick<Alert, 'title'>,
    silence: CompiledSilence | undefined,
    isFold: boolean,
  ): AlertDraft {
    const previous = series.intervals.at(-1);
    const earlier = previous === undefined ? undefined : this.#alert(previous.alert_id);
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
      status: silence === undefined ? 'new' : 'suppressed',
      priority: priorityOf(severity),
      risk_score: riskScore(severity, confidence),
      ...omitUndefined({ category, confidence, silence_id: silence?.id }),
      asset_ids: [],
      event_ids: [],
      ...(mitre === undefined ? {} : { mitre: { tactics: [...mitre.tactics], techniques: [...mitre.techniques] } }),
      count: 0,
      first_seen: at,
      last_seen: at,
      dedup_key: series.key,
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
    const draft = AlertDraft.begun(uuid7(this.#nowMs), alert, isFold);
    if (silence === undefined) draft.heard = this.#nowMs;
    this.#drafts.set(draft.id, draft);
    this.#begun.set(draft.id, series);
    return draft;
  }

  /** Counts a finding as an occurrence of a series. @param timestamp - the time of the occurrence */
  #count(
    series: Series,
    draft: AlertDraft,
    finding: Finding,
    events: readonly LazyEventId[],
    timestamp: number = finding.timestamp,
  ): void {
    draft.count(finding, events);
    const from = Math.min(beginningOf(finding), timestamp);
    const [only] = series.intervals;
    if (series.intervals.length === 1 && only!.alert_id === draft.id && from >= only!.first && timestamp <= only!.last)
      return;
    series.intervals = withOccurrence(series.intervals, draft.id, from, timestamp);
    this.#changed.add(series);
  }

  /** Sets the status of an alert that counts a finding to new or suppressed. */
  #stand(draft: AlertDraft, pair: Pair, finding: Finding, silence: CompiledSilence | undefined): void {
    const { alert } = draft;
    if (silence === undefined) draft.heard = this.#nowMs;
    if (alert.status === 'new') {
      if (silence !== undefined && this.#mayQuieten(draft, silence)) {
        alert.status = 'suppressed';
        alert.silence_id = silence.id;
      }
      return;
    }
    const isOurs = alert.silence_id !== undefined || alert.folded_into !== undefined;
    if (alert.status !== 'suppressed' || !isOurs) return;
    if (silence !== undefined) {
      alert.silence_id = silence.id;
      return;
    }
    delete alert.silence_id;
    if (alert.folded_into !== undefined && this.#bounds.folds(finding, pair.home, scopeOf(undefined, finding.sensors)))
      return;
    delete alert.folded_into;
    alert.status = 'new';
  }

  /**
   * Returns true if the silence is newer than the alert's last visible finding, and a silence that matches the alert as
   * a whole (with its severity and domain) is newer too.
   */
  #mayQuieten({ alert, heard = 0 }: AlertDraft, silence: CompiledSilence): boolean {
    if (silence.since <= heard) return false;
    const found = this.#to.silences.find(alert, this.#to.hosts.assetOf, this.#nowMs);
    return found !== undefined && found.since > heard;
  }

  #alert(id: string): Alert | undefined {
    return this.#drafts.get(id)?.alert ?? this.#to.tables.alerts.get(id)?.alert;
  }

  /** Returns a draft of an alert; undefined if the alert is resolved, archived or not stored. */
  #draft(id: string): AlertDraft | undefined {
    const known = this.#drafts.get(id);
    if (known !== undefined || this.#closed.has(id)) return known;
    const row = this.#to.tables.alerts.get(id);
    if (row === undefined || isClosed(row.alert)) {
      this.#closed.add(id);
      return undefined;
    }
    const draft = AlertDraft.taken(row);
    this.#drafts.set(id, draft);
    return draft;
  }
}

/**
 * Returns the time that decides which alerts a finding joins: the beginning of the episode for correlations, and the
 * event time for other findings.
 */
function beginningOf({ group, began, timestamp }: Finding): number {
  return (group === undefined ? undefined : began) ?? timestamp;
}

/** Returns the sensors in `found` that the alert does not name; empty if the alert's sensors are unknown. */
function lackingIn({ sensors = [] }: Alert, found: readonly string[]): readonly string[] {
  if (sensors.length === 0) return [];
  return found.filter((sensor) => !sensors.some(({ id }) => id === sensor));
}

/** Returns the sensor of findings, or `several`; '' if the sensor is unknown. */
function basisOf(sensors: Finding['sensors'] = []): string {
  return sensors.length > 1 ? 'several' : (sensors[0] ?? '');
}

/** Returns the scope of the limits that count a finding: the silence and the sensor. */
function scopeOf(silenceId: string | undefined, sensors: Finding['sensors']): string {
  const basis = basisOf(sensors);
  return basis === '' ? (silenceId ?? '') : `${silenceId ?? ''}\n${basis}`;
}

/** Returns whether no user has worked on the alert. */
const isUntouched = ({ status, assignee, verdict, note_count }: Alert): boolean =>
  status === 'new' && assignee === undefined && verdict === undefined && note_count === 0;

/** Converts a finding to a finding of the pseudo rule that covers all rules of its source. */
function ofSource({ rule_source, category: _, mitre: __, tags: ___, ...finding }: Finding): Finding {
  const rule_name = `Alert flood from ${rule_source}`;
  return {
    ...finding,
    rule_source,
    rule_id: `flood.${rule_source}`,
    rule_name,
    title: `all rules of ${rule_source}`,
  };
}

/** Returns the title, description and address of a summary alert. */
function particularsOf(of: FoldOf, { title }: Finding, windowMs: number): Partial<Alert> & { title: string } {
  const within = `within ${Math.max(1, Math.round(windowMs / 60_000))} minutes`;
  const counted = 'Further findings are counted here; the evidence shows the first addresses and the total number.';
  if (of === 'source')
    return {
      title: `Alert flood across rules: ${title}`,
      description: `Rules of this source raised more than ${limits.maxAlertsPerSourceHour} alerts within an hour. ${counted}`,
    };
  if (of === 'untimely')
    return {
      title: `Alert flood with past or future times: ${title}`,
      description: `This rule raised more than ${limits.maxUntimelyAlertsPerRuleWindow} alerts ${within} about events long past or in the future. ${counted}`,
    };
  if (of === 'rule')
    return {
      title: `Alert flood: ${title}`,
      description: `This rule raised more than ${limits.maxAlertsPerRuleWindow} alerts ${within}. ${counted}`,
    };
  const { end, ip } = of;
  const [others, towards] = end === 'dst' ? ['sources', 'from'] : ['destinations', 'to'];
  return {
    title: `${title}, ${towards} many ${others}`,
    description: `This rule raised more than ${limits.maxAlertsPerHostWindow} alerts about ${ip} ${within}, or more than ${limits.maxAlertsPerRuleWindow} in total. ${counted}`,
    ...(end === 'dst' ? { dst_ip: ip } : { src_ip: ip }),
  };
}
