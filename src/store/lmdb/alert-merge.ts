import type { Alert } from '../../contract/resources/alert.ts';
import type { Finding } from '../../events/finding.ts';
import { addressBytes, printAddress } from '../../events/ip.ts';
import { limits } from '../../limits.ts';
import { uuid7 } from '../../uuid.ts';
import { priorityOf, riskScore } from '../alert-scoring.ts';
import { present } from '../present.ts';
import type { CompiledSilence } from '../silence-match.ts';
import type { AlertUpdate } from '../store.ts';
import { AlertBounds, burstMs, type FoldOf, type HomeEnd, type Hosts } from './alert-bounds.ts';
import type { AlertTables } from './alert-change.ts';
import { AlertDraft, type EventRef, isClosed } from './alert-draft.ts';
import { type Interval, joinable, withOccurrence } from './intervals.ts';
import { keyHash } from './key-hash.ts';
import type { Silences } from './silences.ts';

export interface MergeParts extends AlertTables {
  readonly silences: Pick<Silences, 'any' | 'find' | 'get'>;
  readonly hosts: Hosts;
}

/** The alerts of one deduplication key: when they were active. This batch's copy. */
interface Series {
  readonly key: string;
  intervals: readonly Interval[];
}

/** What findings have in common that share rule, source and destination address: made once in a batch. */
interface Pair {
  readonly series: Series;
  readonly source: string | undefined;
  readonly destination: string | undefined;
  /** Its ends that are home hosts: the destination first. */
  readonly home: readonly HomeEnd[];
  /** What the last of them was told of silences, and about what it asked. */
  asked?: Pick<Finding, 'domain' | 'category' | 'severity'> & {
    readonly silence: CompiledSilence | undefined;
  };
}

/** One end, as a finding has it. */
interface End {
  /** The one spelling of the address, so that ends are compared as addresses; none for what is none. */
  readonly ip: string | undefined;
  readonly isHome: boolean;
}

const bothEnds = ['src_ip', 'dst_ip'] as const;

/** What the contract allows of tags; rules may carry more and longer ones. */
const maxTags = 100;
const maxTagLength = 100;

/**
 * Merges the findings of one batch into alerts, within its transaction. Findings that share rule, source and
 * destination address, sensor, and what they are about, are one alert while they recur within the window, in event time.
 * Findings of a correlation share rule, group and sensor instead:
 *
 * 1. the alert whose interval, widened by the window at both ends, contains the finding counts it;
 * 2. if there is none, or all of them are resolved or archived, a new alert begins, unless
 * 3. too many of the rule have begun in this time: then an alert counts it that stands for many.
 *
 * **Floods.** Whoever can forge packets can have a rule find something between any addresses. What is no work for a
 * person becomes one alert, by the end that is the same in all of it and can be trusted most, a host of the home
 * networks:
 *
 * ```
 *   203.0.113.* → 10.0.0.5    past 20 of the rule at 10.0.0.5: one alert of the rule at 10.0.0.5
 *   203.0.113.* → 10.0.*.*    past 50 of the rule: one alert of the rule
 * ```
 *
 * So who wants to hide that 10.0.0.5 was attacked behind the same from forged sources leaves one alert about 10.0.0.5.
 * Who forges it for fifty hosts leaves one of the rule, which names hosts and tells how many; hosts whose asset is
 * critical have one of their own even then. What came some minutes before the flood, or somebody has in hand, or has
 * its alert already, stays what it is. The others, which the flood has begun with, are suppressed and name the alert
 * that stands for them (`folded_into`); those that nobody was told of yet, in the same batch, become part of it. With
 * the first finding after the flood they are new again. Grave findings at home hosts have a larger bound: 50 in five
 * minutes, not in a window, so that an outbreak shows each host. Addresses are counted by sketches, so that an alert
 * has a few kilobytes whatever it stands for.
 *
 * **Sensors.** A finding that rests on one sensor counts in alerts of this sensor alone, and against its bounds alone. So
 * no sensor can hide what another finds in an alert of its own making, or in a flood.
 *
 * **Silences.** An alert of which all findings were silenced is suppressed and names the silence. One that was heard
 * before is suppressed by a silence that was made since, if this is about all that the alert is. A finding that no
 * silence is about makes it new again. What somebody works on, and what somebody suppressed, stays so.
 *
 * Suppressed alerts go on counting. An analyst's severity stands until a finding is graver than all before.
 */
export class AlertMerge {
  readonly #to: MergeParts;
  readonly #windowMs: number;
  readonly #nowMs: number;
  readonly #bounds: AlertBounds;
  readonly #drafts = new Map<string, AlertDraft>();
  /** Alerts that are resolved or archived. */
  readonly #closed = new Set<string>();
  readonly #changed = new Set<Series>();
  /** By rule, then by the addresses as findings have them. */
  readonly #pairs = new Map<string, Map<string, Pair>>();
  readonly #folds = new Map<string, Series>();
  /** Series of pairs, by their keys: some findings have one key whatever their other end is. */
  readonly #series = new Map<string, Series>();
  /** What began in this batch, by the alert. */
  readonly #begun = new Map<string, Series>();
  readonly #ends = new Map<string, End>();
  readonly #hasSilences: boolean;

  constructor(to: MergeParts, windowMs: number, nowMs: number) {
    this.#to = to;
    this.#windowMs = windowMs;
    this.#nowMs = nowMs;
    this.#bounds = new AlertBounds(to.tables, windowMs, nowMs, to.hosts);
    this.#hasSilences = to.silences.any;
  }

  /**
   * Findings of one batch come in order of their time.
   *
   * @param events - ids of those that show it, or how they are made: called at `finish` at the latest
   */
  add(finding: Finding, events: readonly EventRef[]): void {
    const { pair, begins } = this.#pairFor(finding);
    const silence = this.#hasSilences ? this.#silenceOf(pair, finding) : undefined;
    const joined = this.#openAlert(pair.series, finding);
    if (joined !== undefined) {
      this.#count(pair.series, joined, finding, events);
      this.#stand(joined, pair, finding, silence);
      return;
    }
    // A person may have closed the alert, or it is part of a flood: growing is nothing to begin another one for.
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
    const particulars = { title, ...present({ description, ...ends }) };
    const draft = this.#begin(pair.series, finding, particulars, silence, false);
    this.#bounds.count(place.bounds, finding.timestamp, draft.id);
    this.#count(pair.series, draft, finding, events);
  }

  /** Writes what was touched; one change for each alert, in the order in which they were first touched. */
  finish(): AlertUpdate[] {
    const { tables, alerts } = this.#to;
    for (const { key, intervals } of this.#changed)
      if (intervals.length > 0) tables.alertKeys.putSync(key, intervals);
    this.#bounds.write();
    return Array.from(this.#drafts.values(), (draft) =>
      alerts.save(
        draft.before,
        draft.row((id) => tables.principals.getSound(id)?.name),
        { id: 'system' },
        this.#nowMs,
      ),
    );
  }

  #pairOf(finding: Finding): Pair {
    const {
      rule_source,
      rule_id,
      src_ip = '',
      dst_ip = '',
      about = '',
      group,
      keyed_by = bothEnds,
      sensors,
    } = finding;
    const basis = basisOf(sensors);
    const rule = `${rule_source}\n${rule_id}\n${keyed_by.length}`;
    let pairs = this.#pairs.get(rule);
    if (pairs === undefined) {
      pairs = new Map();
      this.#pairs.set(rule, pairs);
    }
    const ends =
      group === undefined ? `${src_ip}\n${dst_ip}\n${basis}\n${about}` : `${basis}\ngroup ${group}`;
    const known = pairs.get(ends);
    if (known !== undefined) return known;
    const source = this.#end(src_ip);
    const destination = this.#end(dst_ip);
    // Other spellings of the same addresses are the same pair.
    const name =
      group === undefined ? `${source.ip ?? ''}\n${destination.ip ?? ''}\n${basis}\n${about}` : ends;
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
   * An activity that other sensors go on to report stays in the open alert that it began with. A suppressed or resolved
   * alert takes no finding of a sensor that it lacks: for that sensor another alert begins.
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
        // Where nothing goes on, a closed alert is followed by another one in any case.
        if (isClosed(alert) && continues === undefined) continue;
        const isOpen = !isClosed(alert) && alert.status !== 'suppressed';
        if (isOpen || (missing.length === 0 && !isClosed(alert))) return { pair, begins: false };
        lacking = (lacking ?? sensors).filter((sensor) => missing.includes(sensor));
      }
    const [own] = lacking ?? [];
    if (own === undefined) return { pair: pairs[0]!, begins: false };
    return { pair: this.#pairOf({ ...finding, sensors: [own] }), begins: true };
  }

  /** The alerts of a series that an occurrence would join, whatever their status. */
  *#alertsAround({ intervals }: Series, finding: Finding): Generator<Alert> {
    const windowMs = Math.max(this.#windowMs, finding.lasts_ms ?? 0);
    for (const { alert_id } of joinable(intervals, beginningOf(finding), finding.timestamp, windowMs)) {
      const draft = this.#drafts.get(alert_id);
      const alert = draft?.alert ?? this.#to.tables.alerts.get(alert_id)?.alert;
      if (alert === undefined) continue;
      yield draft === undefined
        ? alert
        : { ...alert, sensors: draft.sensors.map((id) => ({ id, count: 1 })) };
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

  /** The alerts that stand for many. */
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
    if (
      asked !== undefined &&
      asked.severity === severity &&
      asked.domain === domain &&
      asked.category === category
    )
      return asked.silence;
    const ends = present({ src_ip: pair.source, dst_ip: pair.destination, domain, category });
    const subject = { rule_id, rule_source, severity, ...ends };
    const silence = this.#to.silences.find(subject, this.#to.hosts.assetOf, this.#nowMs);
    pair.asked = { severity, ...present({ domain, category }), silence };
    return silence;
  }

  /** The alert of this key that a finding joins, if one is open. */
  #openAlert({ intervals }: Series, finding: Finding): AlertDraft | undefined {
    if (intervals.length === 0) return undefined;
    const { timestamp: time, lasts_ms = 0 } = finding;
    const from = beginningOf(finding);
    const windowMs = Math.max(this.#windowMs, lasts_ms);
    const [only] = intervals;
    // The usual case, which needs no order: a fifth of the time.
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
    events: readonly EventRef[],
    silence: CompiledSilence | undefined,
  ): AlertDraft {
    const told = of === 'source' ? ofSource(finding) : finding;
    const scope = scopeOf(silence?.id, finding.sensors);
    const series = this.#foldSeries(told, of, scope);
    // Whose times may be any is one while it goes on coming.
    const isOfAnyTime = of === 'untimely' || of === 'source';
    const at = isOfAnyTime ? this.#nowMs : finding.timestamp;
    let draft = this.#openAlert(series, { ...told, timestamp: at });
    if (draft === undefined) {
      draft = this.#begin(series, told, particularsOf(of, told, this.#windowMs), silence, true);
      if (!isOfAnyTime) this.#bounds.countFold(finding, scope, draft.id);
    }
    draft.fold?.add(pair.source, pair.destination);
    this.#count(series, draft, finding, events, at);
    return draft;
  }

  /** An alert of the flood's first minutes becomes part of the alert that stands for the flood. */
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
    return ips.some(
      (ip) => ip !== undefined && this.#end(ip).isHome && this.#bounds.isCritical({ end: 'dst', ip }),
    );
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
      ...present({ category, confidence, silence_id: silence?.id }),
      asset_ids: [],
      event_ids: [],
      ...(mitre === undefined
        ? {}
        : { mitre: { tactics: [...mitre.tactics], techniques: [...mitre.techniques] } }),
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

  /** @param timestamp - when it counts as an occurrence of the series */
  #count(
    series: Series,
    draft: AlertDraft,
    finding: Finding,
    events: readonly EventRef[],
    timestamp: number = finding.timestamp,
  ): void {
    draft.count(finding, events);
    const from = Math.min(beginningOf(finding), timestamp);
    const [only] = series.intervals;
    if (
      series.intervals.length === 1 &&
      only!.alert_id === draft.id &&
      from >= only!.first &&
      timestamp <= only!.last
    )
      return;
    series.intervals = withOccurrence(series.intervals, draft.id, from, timestamp);
    this.#changed.add(series);
  }

  /** Whether an alert that counts a finding is to be seen. */
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
    if (
      alert.folded_into !== undefined &&
      this.#bounds.folds(finding, pair.home, scopeOf(undefined, finding.sensors))
    )
      return;
    delete alert.folded_into;
    alert.status = 'new';
  }

  /** Made since the alert was heard, and about all that it is: its gravest finding, its name. */
  #mayQuieten({ alert, heard = 0 }: AlertDraft, silence: CompiledSilence): boolean {
    if (silence.since <= heard) return false;
    const found = this.#to.silences.find(alert, this.#to.hosts.assetOf, this.#nowMs);
    return found !== undefined && found.since > heard;
  }

  #alert(id: string): Alert | undefined {
    return this.#drafts.get(id)?.alert ?? this.#to.tables.alerts.get(id)?.alert;
  }

  /** A draft of a stored alert; undefined when it is resolved or archived. */
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

/** An episode of a correlation joins alerts with all of its time, other findings with the time when they were found. */
function beginningOf({ group, began, timestamp }: Finding): number {
  return (group === undefined ? undefined : began) ?? timestamp;
}

/** The sensors that an alert does not name; none where its senders are unknown. */
function lackingIn({ sensors = [] }: Alert, found: readonly string[]): readonly string[] {
  if (sensors.length === 0) return [];
  return found.filter((sensor) => !sensors.some(({ id }) => id === sensor));
}

/** The one sensor that findings rest on, or `several`; '' if it is unknown. */
function basisOf(sensors: Finding['sensors'] = []): string {
  return sensors.length > 1 ? 'several' : (sensors[0] ?? '');
}

/** The part of the bounds that counts a finding: by silence and by sensor. */
function scopeOf(silenceId: string | undefined, sensors: Finding['sensors']): string {
  const basis = basisOf(sensors);
  return basis === '' ? (silenceId ?? '') : `${silenceId ?? ''}\n${basis}`;
}

/** Nobody has it in hand. */
const isUntouched = ({ status, assignee, verdict, note_count }: Alert): boolean =>
  status === 'new' && assignee === undefined && verdict === undefined && note_count === 0;

/** Any finding of a source, as one of the rule that stands for all of its rules. */
function ofSource({ rule_source, category: _, mitre: __, tags: ___, ...finding }: Finding): Finding {
  const rule_name = `Flood of ${rule_source}`;
  return {
    ...finding,
    rule_source,
    rule_id: `flood.${rule_source}`,
    rule_name,
    title: `all of ${rule_source}`,
  };
}

/** What an alert says that stands for many. */
function particularsOf(of: FoldOf, { title }: Finding, windowMs: number): Partial<Alert> & { title: string } {
  const within = `within ${Math.max(1, Math.round(windowMs / 60_000))} minutes`;
  const told = 'What it found beyond them is counted here; evidence tells how many addresses, and the first.';
  if (of === 'source')
    return {
      title: `Flood of alerts of many rules: ${title}`,
      description: `Rules of this source raised more than ${limits.maxAlertsPerSourceHour} alerts within an hour. ${told}`,
    };
  if (of === 'untimely')
    return {
      title: `Flood of alerts of other times: ${title}`,
      description: `This rule raised more than ${limits.maxUntimelyAlertsPerRuleWindow} alerts ${within} about what is long past, or to come. ${told}`,
    };
  if (of === 'rule')
    return {
      title: `Flood of alerts: ${title}`,
      description: `This rule raised more than ${limits.maxAlertsPerRuleWindow} alerts ${within}. ${told}`,
    };
  const { end, ip } = of;
  const [others, towards] = end === 'dst' ? ['sources', 'from'] : ['destinations', 'to'];
  return {
    title: `${title}, ${towards} many ${others}`,
    description: `This rule raised more than ${limits.maxAlertsPerHostWindow} alerts about ${ip} ${within}, or more than ${limits.maxAlertsPerRuleWindow} in all. ${told}`,
    ...(end === 'dst' ? { dst_ip: ip } : { src_ip: ip }),
  };
}
