import type { Severity } from '../../contract/vocabulary.ts';
import { severities } from '../../contract/vocabulary.ts';
import { limits } from '../../limits.ts';
import type { Detector, DetectorCard, EventRef, Left, Lookup, Sighted, Tell } from './detector.ts';
import {
  addDistinct,
  countDistinct,
  type Distinct,
  distinctBytes,
  hashText,
  mergeDistinct,
  noneDistinct,
} from './distinct-names.ts';
import { keepEarliest, mergeEarliest } from './earliest.ts';
import { addFrequent, type Frequent, mergeFrequent, mostFrequent } from './frequent.ts';
import { isJudgementDue, type Judged, mergeJudged, neverJudged } from './judged.ts';
import { type Name, Names } from './names.ts';
import { nothing } from './put-at.ts';
import { dueOf, leftOf, type Window, Windows } from './windows.ts';

export const stormTunables = {
  /** Different names that don't exist, of a client within an hour, from which on it is told. */
  clientNames: 200,
  /** … from which on it is grave. */
  clientManyNames: 5000,
  /** As many times what the client asks in vain in an hour of the day before. */
  timesBaseline: 4,
  /** Different names below one domain within an hour, of all clients together, none of which is found. */
  domainNames: 500,
  /** … from which on it is grave. */
  domainManyNames: 5000,
  /** Clients from which on an attack on a domain is one thing, and not that of each client. */
  domainClients: 3,
  /** Different names for each question: those who look for something ask again. */
  minUniqueness: 0.5,
  /** Whole names below a domain that show that clients search it, and so what becomes of their browsers' probes. */
  searched: 3,
  /** Of a client's sample of names, those in one domain from which on its storm is that of the domain. */
  mostlyOneDomain: 0.8,
  slotMs: 30 * 60_000,
  /** The hour that is judged, by half hours; and with a day before it. */
  slots: 2,
  baselineSlots: 50,
  /** Told again while it goes on. */
  againMs: 24 * 3_600_000,
  /** Clients, and domains, kept. Who makes up domains makes room for them only. */
  maxClients: 8192,
  maxDomains: 8192,
  /** Bytes that clients, and domains, may take. */
  maxBytes: 6 * 2 ** 20,
};

/** Of a client: exact up to 512, then an error of 4 %; the sample says which domains they are of. */
const clientTerms = { max: 512, texts: 16 };
/** Of a domain, to an error of 3 %. */
const domainTerms = { max: 1024, texts: 5 };
const askerTerms = { max: 256, texts: 5 };
const resolvers = 4;

interface Missed extends Judged {
  count: number;
  readonly names: Distinct;
  first: number;
  last: number;
  seqs: number[];
}

interface Flooded extends Missed {
  /** Names that may be those of browsers' probes. */
  readonly probes: Distinct;
  /** Whole names, and what machines look for by themselves. */
  searched: number;
  /** Questions to which the domain's servers did not answer in time. */
  failed: number;
  readonly clients: Distinct;
  readonly by: Frequent;
}

/**
 * Names that don't exist, in masses:
 *
 *     of a client    more in an hour than it asks in vain otherwise: malware that looks for its master, somebody who goes
 *                    through a dictionary of names, a broken program
 *     of a domain    made up below one domain by many clients, so that each must be asked of the domain's servers:
 *                    "water torture" against these or the resolver. One finding a domain, none of its clients
 *
 * What every network asks in vain doesn't count: single labels, also those of Chromium's probes, wpad, multicast names,
 * reverse look-ups, lists of addresses, whole names with a searched domain behind them.
 *
 * 12 MB at the most, and 5 MB of names.
 */
export class NxdomainStormDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'nxdomain-storm',
    version: 1,
    name: 'Storm of names that do not exist',
    category: 'dns-anomaly',
    mitre: { tactics: ['TA0040', 'TA0011'], techniques: ['T1498', 'T1568.002'] },
  };
  readonly #terms: typeof stormTunables;
  readonly #names: Names;
  /** Hours that end so many slots before the newest are judged as well: what is late may complete one of them. */
  readonly #lateSlots: number;
  readonly #clients: Windows<Missed>;
  readonly #domains: Windows<Flooded>;

  /** `names` may be that of other detectors. */
  constructor(names: Names = new Names(), terms: Partial<typeof stormTunables> = {}) {
    this.#terms = { ...stormTunables, ...terms };
    this.#names = names;
    const { slotMs, slots, baselineSlots, maxClients, maxDomains, maxBytes } = this.#terms;
    this.#lateSlots = Math.ceil(limits.maxEventDelayMs / slotMs);
    this.#clients = new Windows({
      slotMs,
      slots: baselineSlots + this.#lateSlots,
      maxKeys: maxClients,
      maxWeight: maxBytes,
      weigh: ({ names }) => 600 + distinctBytes(names),
      create: noneMissed,
      merge: mergeMissed,
    });
    this.#domains = new Windows({
      slotMs,
      slots: slots + this.#lateSlots,
      maxKeys: maxDomains,
      maxWeight: maxBytes,
      weigh: ({ names, probes, clients }) =>
        900 + distinctBytes(names) + distinctBytes(probes) + distinctBytes(clients),
      create: noneFlooded,
      merge: mergeFlooded,
    });
  }

  get left(): Left {
    return leftOf(this.#clients, this.#domains);
  }

  lookup(lookup: Readonly<Lookup>): void {
    const isMissing = lookup.rcode === 3;
    if (!isMissing && lookup.rcode !== 2) return;
    const name = this.#names.of(lookup.query);
    const { kind } = name;
    if (kind === 'reverse' || kind === 'local' || kind === 'address') return;
    if (isMissing && lookup.srcHome && (kind === 'ordinary' || kind === 'probe'))
      this.#ofClient(lookup, name);
    if (name.payload > 0) this.#ofDomain(lookup, name, isMissing);
  }

  judge(tell: Tell, refreshes?: boolean): void {
    for (const window of this.#domains.changed(refreshes)) this.#judgeDomain(window, tell);
    for (const window of this.#clients.changed(refreshes)) this.#judgeClient(window, tell);
  }

  state(): unknown {
    return { clients: this.#clients.state(), domains: this.#domains.state() };
  }

  restore(state: unknown): void {
    const { clients, domains } = state as State;
    this.#clients.restore(clients);
    this.#domains.restore(domains);
  }

  merge(state: unknown): void {
    const { clients, domains } = state as State;
    this.#clients.merge(clients);
    this.#domains.merge(domains);
  }

  #ofClient(lookup: Readonly<Lookup>, name: Name): void {
    const missed = this.#clients.at(lookup.src, lookup.time);
    if (missed === undefined) return;
    note(missed, lookup);
    addDistinct(missed.names, clientTerms, name.hash, 0, name.text);
  }

  #ofDomain(lookup: Readonly<Lookup>, { kind, domain, hash, text }: Name, isMissing: boolean): void {
    const flooded = this.#domains.at(domain, lookup.time);
    if (flooded === undefined) return;
    if (kind === 'searched' || kind === 'discovery') {
      flooded.searched++;
      return;
    }
    note(flooded, lookup);
    if (!isMissing) flooded.failed++;
    addDistinct(kind === 'probe' ? flooded.probes : flooded.names, domainTerms, hash, 0, text);
    addDistinct(flooded.clients, askerTerms, hashText(lookup.src), 0, lookup.src);
    addFrequent(flooded.by, lookup.dst, resolvers);
  }

  #judgeDomain(window: Window<Flooded>, tell: Tell): void {
    const { domainNames, domainManyNames, domainClients, minUniqueness, searched, againMs } = this.#terms;
    const namesOf = ({ names, probes }: Flooded) =>
      countDistinct(names, domainTerms) + countDistinct(probes, domainTerms);
    const { slots, most, began, last } = this.#busiest(window, domainNames, namesOf);
    if (most < domainNames) return;
    if (!isJudgementDue(window, most, last)) {
      this.#domains.defer(window);
      return;
    }
    const flooded = noneFlooded();
    for (const { value } of slots) mergeFlooded(flooded, value);
    const probes = flooded.searched >= searched ? 0 : countDistinct(flooded.probes, domainTerms);
    const names = countDistinct(flooded.names, domainTerms) + probes;
    const clients = countDistinct(flooded.clients, askerTerms);
    if (names < domainNames || clients < domainClients || names < minUniqueness * flooded.count) return;
    const severity = names >= domainManyNames ? 'high' : 'medium';
    const due = dueOf(window, severities.indexOf(severity), flooded.last, againMs, names);
    if (due === undefined) return;
    tell({ ...this.#domainSighted(window.key, flooded, { names, clients }, severity), began }, due);
  }

  #judgeClient(window: Window<Missed>, tell: Tell): void {
    const { clientNames, clientManyNames, timesBaseline, slotMs, slots, baselineSlots, againMs } =
      this.#terms;
    const namesOf = ({ names }: Missed) => countDistinct(names, clientTerms);
    const { from, slots: judged, most, began, last } = this.#busiest(window, clientNames, namesOf);
    if (most < clientNames) return;
    const since = from - (baselineSlots - slots) * slotMs;
    let before = 0;
    for (const { start, value: missed } of window.slots)
      if (start < from && start >= since) before += namesOf(missed);
    const baseline = (before * slots) / (baselineSlots - slots);
    const threshold = Math.max(clientNames, timesBaseline * baseline);
    if (most < threshold) return;
    if (!isJudgementDue(window, most, last)) {
      this.#clients.defer(window);
      return;
    }
    const hour = noneMissed();
    for (const { value } of judged) mergeMissed(hour, value);
    const names = countDistinct(hour.names, clientTerms);
    if (names < threshold) return;
    const { domain, share } = this.#mostlyOf(hour.names);
    if (share >= this.#terms.mostlyOneDomain && this.#isTold(domain, hour.last)) return;
    const severity = names >= clientManyNames ? 'high' : 'medium';
    const due = dueOf(window, severities.indexOf(severity), hour.last, againMs, names);
    if (due === undefined) return;
    const seen = { names, baseline, threshold, domain, share };
    tell({ ...this.#clientSighted(window.key, hour, seen, severity), began }, due);
  }

  /**
   * The hour with the most names, of those that end in the newest slot and in the few before it, and when the first of
   * those with enough names began.
   */
  #busiest<V extends Missed>(window: Window<V>, enough: number, namesOf: (value: V) => number) {
    const { slotMs, slots: wide } = this.#terms;
    let busiest = { from: 0, slots: window.slots, most: -1 };
    let began = Number.POSITIVE_INFINITY;
    for (let end = window.newest; end >= window.newest - this.#lateSlots * slotMs; end -= slotMs) {
      const from = end - (wide - 1) * slotMs;
      const slots = window.slots.filter(({ start }) => start >= from && start <= end);
      const most = slots.reduce((sum, { value }) => sum + namesOf(value), 0);
      if (most > busiest.most) busiest = { from, slots, most };
      if (most >= enough) began = Math.min(began, ...slots.map(({ value }) => value.first));
    }
    const last = Math.max(...busiest.slots.map(({ value }) => value.last));
    return { ...busiest, began, last };
  }

  /** Whether an attack on the domain is what is told of it. */
  #isTold(domain: string, time: number): boolean {
    const { toldAt = Number.NEGATIVE_INFINITY } = this.#domains.peek(domain) ?? {};
    return time < toldAt + this.#terms.againMs;
  }

  /** The domain that most of a sample of names are of. */
  #mostlyOf({ texts }: Distinct): { domain: string; share: number } {
    const counts = new Map<string, number>();
    for (const text of texts) addFrequent(counts, this.#names.of(text).domain, clientTerms.texts);
    const [domain, count] = mostFrequent(counts, 1)[0]!;
    return { domain, share: count / texts.length };
  }

  #clientSighted(
    src: string,
    hour: Missed,
    seen: { names: number; baseline: number; threshold: number; domain: string; share: number },
    severity: Severity,
  ): Sighted {
    const { names, baseline, threshold, domain, share } = seen;
    const inOne = share >= this.#terms.mostlyOneDomain;
    const meaning = inOne
      ? `Nearly all are below ${domain}: somebody goes through a dictionary of its names, or data leave in them.`
      : 'They are of many domains: malware may look for its master, or a program is broken.';
    return {
      title: `${src} asks for masses of names that do not exist`,
      description: `${src} asked for ${names} different names that don't exist within an hour, ${Math.round(baseline)} an hour in the day before. ${meaning} Look at the names, then find the program on ${src} that asks.`,
      severity,
      confidence: inOne ? 0.6 : 0.7,
      timestamp: hour.last,
      ends: { src_ip: src, ...(inOne ? { domain } : {}) },
      evidence: {
        distinct_names: names,
        nxdomain_answers: hour.count,
        baseline_names_per_hour: round(baseline),
        most_frequent_domain: domain,
        most_frequent_domain_share: round(share),
        some_names: hour.names.texts.slice(0, 8).map((text) => text.slice(0, 253)),
        seconds: Math.round((hour.last - hour.first) / 1000),
        threshold_names: Math.round(threshold),
        threshold_high: this.#terms.clientManyNames,
      },
      events: refs(hour),
    };
  }

  #domainSighted(
    domain: string,
    flooded: Flooded,
    { names, clients }: { names: number; clients: number },
    severity: Severity,
  ): Sighted {
    const [resolver] = mostFrequent(flooded.by, 1)[0]!;
    return {
      title: `Random names below ${domain} flood DNS`,
      description: `${clients} clients asked for ${names} different names below ${domain} within an hour, none of which was found. Names that nobody asked for before pass every cache: so the servers of ${domain}, or the resolver ${resolver}, are brought down. Limit answers of that kind at the resolver, and look at what the clients have in common.`,
      severity,
      confidence: 0.8,
      timestamp: flooded.last,
      ends: { dst_ip: resolver, domain },
      keyed_by: [],
      about: domain,
      evidence: {
        domain,
        distinct_names: names,
        questions: flooded.count,
        servfail_answers: flooded.failed,
        clients,
        some_clients: flooded.clients.texts,
        some_names: [...flooded.names.texts, ...flooded.probes.texts]
          .slice(0, domainTerms.texts)
          .map((text) => text.slice(0, 253)),
        resolvers: mostFrequent(flooded.by, resolvers).map(([address]) => address),
        seconds: Math.round((flooded.last - flooded.first) / 1000),
        threshold_names: this.#terms.domainNames,
        threshold_clients: this.#terms.domainClients,
        threshold_high: this.#terms.domainManyNames,
      },
      events: refs(flooded),
    };
  }
}

interface State {
  readonly clients: ReturnType<Windows<Missed>['state']>;
  readonly domains: ReturnType<Windows<Flooded>['state']>;
}

function note(missed: Missed, { time, seq }: Readonly<Lookup>): void {
  missed.count++;
  if (time < missed.first) missed.first = time;
  if (time > missed.last) missed.last = time;
  missed.seqs = keepEarliest(missed.seqs, seq);
}

function noneMissed(): Missed {
  return {
    ...neverJudged(),
    count: 0,
    names: noneDistinct(),
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
    seqs: nothing,
  };
}

function noneFlooded(): Flooded {
  return {
    ...noneMissed(),
    probes: noneDistinct(),
    searched: 0,
    failed: 0,
    clients: noneDistinct(),
    by: new Map(),
  };
}

function mergeMissed(into: Missed, from: Missed, terms = clientTerms): void {
  mergeJudged(into, from);
  into.count += from.count;
  mergeDistinct(into.names, terms, from.names);
  into.first = Math.min(into.first, from.first);
  into.last = Math.max(into.last, from.last);
  into.seqs = mergeEarliest(into.seqs, from.seqs);
}

function mergeFlooded(into: Flooded, from: Flooded): void {
  mergeMissed(into, from, domainTerms);
  mergeDistinct(into.probes, domainTerms, from.probes);
  into.searched += from.searched;
  into.failed += from.failed;
  mergeDistinct(into.clients, askerTerms, from.clients);
  mergeFrequent(into.by, from.by, resolvers);
}

const refs = ({ seqs }: Missed) => seqs.map((seq): EventRef => ({ table: 'dns', seq }));

const round = (value: number) => Math.round(value * 1000) / 1000;
