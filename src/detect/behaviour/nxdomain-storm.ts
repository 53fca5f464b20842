import { type Severity, severities } from '../../contract/vocabulary.ts';
import { limits } from '../../limits.ts';
import type { Detection, Detector, DetectorCard, DnsLookup, Emit, StoredEventRef } from './detector.ts';
import {
  addToSketch,
  countSketch,
  type DistinctSketch,
  emptySketch,
  hashText,
  mergeSketches,
  sketchBytes,
} from './support/distinct-sketch.ts';
import { keepEarliest } from './support/earliest.ts';
import { addFrequent, type Frequent, mergeFrequent, mostFrequent } from './support/frequent.ts';
import { isEvaluationDue, type LastEvaluation, mergeEvaluations, neverEvaluated } from './support/last-evaluation.ts';
import { type Name, Names } from './support/names.ts';
import { PartedDetector } from './support/parted-detector.ts';
import { nothing } from './support/put-at.ts';
import { mergeSpans, type Span } from './support/span.ts';
import { thousandths } from './support/thousandths.ts';
import { dueOf, type Window, Windows } from './support/windows.ts';

export const nxdomainStormThresholds = {
  /** Minimum distinct NXDOMAIN names of a client within an hour. */
  clientNames: 200,
  /** Minimum distinct NXDOMAIN names of a client for severity high. */
  clientManyNames: 5000,
  /** Minimum ratio of the NXDOMAIN names of a client in the hour to its hourly average over the previous day. */
  timesBaseline: 4,
  /** Minimum distinct names below one domain with NXDOMAIN or SERVFAIL, queried by all clients within an hour. */
  domainNames: 500,
  /** Minimum distinct names below one domain for severity high. */
  domainManyNames: 5000,
  /** Minimum clients for reporting an attack on a domain. The attack is reported once, and not once per client. */
  domainClients: 3,
  /** Minimum distinct names per query: a client that needs a name queries the name repeatedly. */
  minUniqueness: 0.5,
  /**
   * Minimum look-ups of `searched` and `discovery` names below a domain for treating it as a search domain of clients.
   * The probes below such a domain come from browsers, and are not counted.
   */
  searched: 3,
  /**
   * Minimum share of a client's sampled names in one domain for attributing the client's storm to that
   * domain.
   */
  mostlyOneDomain: 0.8,
  slotMs: 30 * 60_000,
  /** Slots of the evaluated hour. */
  slots: 2,
  /** Slots of the evaluated hour and the previous day together. */
  baselineSlots: 50,
  /** Time after which a continuing storm is reported again. */
  againMs: 24 * 3_600_000,
  /** Maximum clients. */
  maxClients: 8192,
  /** Maximum domains. Domains have a separate limit, because attackers can invent any number of them. */
  maxDomains: 8192,
  /** Maximum bytes of the clients; the same limit applies to the domains. */
  maxBytes: 6 * 2 ** 20,
};

/**
 * Limits for a client's names: the count is exact up to 512, then estimated with an error of 4 %. The sampled
 * texts show which domains the names are in.
 */
const clientSketchSize = { max: 512, texts: 16 };
/** Limits for a domain's names: the count is exact up to 1,024, then estimated with an error of 3 %. */
const domainSketchSize = { max: 1024, texts: 5 };
const clientsSketchSize = { max: 256, texts: 5 };
const resolvers = 4;

interface Missed extends LastEvaluation, Span {
  count: number;
  readonly names: DistinctSketch;
}

interface Flooded extends Missed {
  /** Names that may be browser probes. */
  readonly probes: DistinctSketch;
  /** Queries for full names with an appended search domain, and for names that machines look up automatically. */
  searched: number;
  /** Queries with the answer SERVFAIL: the domain's servers may have been overloaded. */
  failed: number;
  readonly clients: DistinctSketch;
  readonly by: Frequent;
}

/**
 * Reports many names that do not exist:
 *
 *     by a client    more names in an hour than is usual for the client: malware that looks for its C2 server,
 *                    a program that tries a dictionary of names, or a broken program
 *     in a domain    random names below one domain, queried by many clients. Only the domain's servers can
 *                    answer these queries: "water torture" against these servers or the resolver. One finding
 *                    per domain, and no findings for the clients
 *
 * Failed look-ups that occur in every network are not counted: single labels, including Chromium's probes, wpad,
 * multicast names, reverse look-ups, address lists, full names with a search domain appended.
 *
 * Memory: at most 12 MB, and 5 MB of names.
 */
export class NxdomainStormDetector extends PartedDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'nxdomain-storm',
    version: 1,
    name: 'NXDOMAIN storm',
    category: 'dns-anomaly',
    mitre: { tactics: ['TA0040', 'TA0011'], techniques: ['T1498', 'T1568.002'] },
  };
  readonly #thresholds: typeof nxdomainStormThresholds;
  readonly #names: Names;
  /**
   * Number of slots before the newest slot. The hours that end in these slots are evaluated again, because late events
   * may complete them.
   */
  readonly #lateSlots: number;
  readonly #clients: Windows<Missed>;
  readonly #domains: Windows<Flooded>;

  /** @param names - may be shared with other detectors */
  constructor(names: Names = new Names(), thresholds: Partial<typeof nxdomainStormThresholds> = {}) {
    super();
    this.#thresholds = { ...nxdomainStormThresholds, ...thresholds };
    this.#names = names;
    const { slotMs, slots, baselineSlots, maxClients, maxDomains, maxBytes } = this.#thresholds;
    this.#lateSlots = Math.ceil(limits.maxEventDelayMs / slotMs);
    this.#clients = new Windows({
      slotMs,
      slots: baselineSlots + this.#lateSlots,
      maxKeys: maxClients,
      maxWeight: maxBytes,
      weigh: ({ names }) => 600 + sketchBytes(names),
      create: noneMissed,
      merge: mergeMissed,
    });
    this.#domains = new Windows({
      slotMs,
      slots: slots + this.#lateSlots,
      maxKeys: maxDomains,
      maxWeight: maxBytes,
      weigh: ({ names, probes, clients }) => 900 + sketchBytes(names) + sketchBytes(probes) + sketchBytes(clients),
      create: noneFlooded,
      merge: mergeFlooded,
    });
  }

  protected get parts() {
    return { clients: this.#clients, domains: this.#domains };
  }

  lookup(lookup: Readonly<DnsLookup>): void {
    const isMissing = lookup.rcode === 3;
    if (!isMissing && lookup.rcode !== 2) return;
    const name = this.#names.of(lookup.query);
    const { kind } = name;
    if (kind === 'reverse' || kind === 'local' || kind === 'address') return;
    if (isMissing && lookup.srcHome && (kind === 'ordinary' || kind === 'probe')) this.#ofClient(lookup, name);
    if (name.payload > 0) this.#ofDomain(lookup, name, isMissing);
  }

  evaluate(emit: Emit, refreshes?: boolean): void {
    for (const window of this.#domains.changed(refreshes)) this.#evaluateDomain(window, emit);
    for (const window of this.#clients.changed(refreshes)) this.#evaluateClient(window, emit);
  }

  #ofClient(lookup: Readonly<DnsLookup>, name: Name): void {
    const missed = this.#clients.at(lookup.src, lookup.time);
    if (missed === undefined) return;
    note(missed, lookup);
    addToSketch(missed.names, clientSketchSize, name.hash, 0, name.text);
  }

  #ofDomain(lookup: Readonly<DnsLookup>, { kind, domain, hash, text }: Name, isMissing: boolean): void {
    const flooded = this.#domains.at(domain, lookup.time);
    if (flooded === undefined) return;
    if (kind === 'searched' || kind === 'discovery') {
      flooded.searched++;
      return;
    }
    note(flooded, lookup);
    if (!isMissing) flooded.failed++;
    addToSketch(kind === 'probe' ? flooded.probes : flooded.names, domainSketchSize, hash, 0, text);
    addToSketch(flooded.clients, clientsSketchSize, hashText(lookup.src), 0, lookup.src);
    addFrequent(flooded.by, lookup.dst, resolvers);
  }

  #evaluateDomain(window: Window<Flooded>, emit: Emit): void {
    const { domainNames, domainManyNames, domainClients, minUniqueness, searched, againMs } = this.#thresholds;
    const namesOf = ({ names, probes }: Flooded) =>
      countSketch(names, domainSketchSize) + countSketch(probes, domainSketchSize);
    const { slots, most, began, last } = this.#busiest(window, domainNames, namesOf);
    if (most < domainNames) return;
    if (!isEvaluationDue(window, most, last)) {
      this.#domains.defer(window);
      return;
    }
    const flooded = noneFlooded();
    for (const { value } of slots) mergeFlooded(flooded, value);
    const probes = flooded.searched >= searched ? 0 : countSketch(flooded.probes, domainSketchSize);
    const names = countSketch(flooded.names, domainSketchSize) + probes;
    const clients = countSketch(flooded.clients, clientsSketchSize);
    if (names < domainNames || clients < domainClients || names < minUniqueness * flooded.count) return;
    const severity = names >= domainManyNames ? 'high' : 'medium';
    const due = dueOf(window, severities.indexOf(severity), flooded.last, againMs, names);
    if (due === undefined) return;
    emit({ ...this.#domainDetection(window.key, flooded, { names, clients }, severity), began }, due);
  }

  #evaluateClient(window: Window<Missed>, emit: Emit): void {
    const { clientNames, clientManyNames, timesBaseline, slotMs, slots, baselineSlots, againMs } = this.#thresholds;
    const namesOf = ({ names }: Missed) => countSketch(names, clientSketchSize);
    const { from, slots: evaluated, most, began, last } = this.#busiest(window, clientNames, namesOf);
    if (most < clientNames) return;
    const since = from - (baselineSlots - slots) * slotMs;
    let before = 0;
    for (const { start, value: missed } of window.slots) if (start < from && start >= since) before += namesOf(missed);
    const baseline = (before * slots) / (baselineSlots - slots);
    const threshold = Math.max(clientNames, timesBaseline * baseline);
    if (most < threshold) return;
    if (!isEvaluationDue(window, most, last)) {
      this.#clients.defer(window);
      return;
    }
    const hour = noneMissed();
    for (const { value } of evaluated) mergeMissed(hour, value);
    const names = countSketch(hour.names, clientSketchSize);
    if (names < threshold) return;
    const { domain, share } = this.#mostlyOf(hour.names);
    if (share >= this.#thresholds.mostlyOneDomain && this.#isTold(domain, hour.last)) return;
    const severity = names >= clientManyNames ? 'high' : 'medium';
    const due = dueOf(window, severities.indexOf(severity), hour.last, againMs, names);
    if (due === undefined) return;
    const seen = { names, baseline, threshold, domain, share };
    emit({ ...this.#clientDetection(window.key, hour, seen, severity), began }, due);
  }

  /**
   * Returns the hour with the most names, among the hours that end in the newest slot or in the few slots before it.
   * Also returns the time of the first event in hours with enough names, and of the last event in the returned hour.
   */
  #busiest<V extends Missed>(window: Window<V>, enough: number, namesOf: (value: V) => number) {
    const { slotMs, slots: wide } = this.#thresholds;
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

  /** Returns true if an attack on the domain was reported within `againMs` of the time. */
  #isTold(domain: string, time: number): boolean {
    const { toldAt = Number.NEGATIVE_INFINITY } = this.#domains.peek(domain) ?? {};
    return Math.abs(time - toldAt) < this.#thresholds.againMs;
  }

  /** Returns the most frequent domain in a sample of names, and its share. */
  #mostlyOf({ texts }: DistinctSketch): { domain: string; share: number } {
    const counts = new Map<string, number>();
    for (const text of texts) addFrequent(counts, this.#names.of(text).domain, clientSketchSize.texts);
    const [domain, count] = mostFrequent(counts, 1)[0]!;
    return { domain, share: count / texts.length };
  }

  #clientDetection(
    src: string,
    hour: Missed,
    seen: { names: number; baseline: number; threshold: number; domain: string; share: number },
    severity: Severity,
  ): Detection {
    const { names, baseline, threshold, domain, share } = seen;
    const inOne = share >= this.#thresholds.mostlyOneDomain;
    const meaning = inOne
      ? `Nearly all are below ${domain}: a dictionary of names is tried, or the names carry data out.`
      : 'They are in many domains: malware may be looking for its C2 server, or a program is broken.';
    return {
      title: `NXDOMAIN storm: ${src} looks up many names that do not exist`,
      description: `${src} looked up ${names} distinct names that do not exist within an hour, compared with ${Math.round(baseline)} per hour in the day before. ${meaning} Look at the names, then find the program on ${src} that looks them up.`,
      severity,
      confidence: inOne ? 0.6 : 0.7,
      timestamp: hour.last,
      ends: { src_ip: src, ...(inOne ? { domain } : {}) },
      evidence: {
        distinct_names: names,
        nxdomain_answers: hour.count,
        baseline_names_per_hour: thousandths(baseline),
        most_frequent_domain: domain,
        most_frequent_domain_share: thousandths(share),
        some_names: hour.names.texts.slice(0, 8).map((text) => text.slice(0, 253)),
        seconds: Math.round((hour.last - hour.first) / 1000),
        threshold_names: Math.round(threshold),
        threshold_high: this.#thresholds.clientManyNames,
      },
      events: refs(hour),
    };
  }

  #domainDetection(
    domain: string,
    flooded: Flooded,
    { names, clients }: { names: number; clients: number },
    severity: Severity,
  ): Detection {
    const [resolver] = mostFrequent(flooded.by, 1)[0]!;
    return {
      title: `DNS flood of random names below ${domain}`,
      description: `${clients} clients looked up ${names} distinct names below ${domain} within an hour; the answers were NXDOMAIN or SERVFAIL. Random names bypass every cache and overload the servers of ${domain} or the resolver ${resolver} ("water torture"). Limit the rate of such answers at the resolver, and find out what the clients have in common.`,
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
          .slice(0, domainSketchSize.texts)
          .map((text) => text.slice(0, 253)),
        resolvers: mostFrequent(flooded.by, resolvers).map(([address]) => address),
        seconds: Math.round((flooded.last - flooded.first) / 1000),
        threshold_names: this.#thresholds.domainNames,
        threshold_clients: this.#thresholds.domainClients,
        threshold_high: this.#thresholds.domainManyNames,
      },
      events: refs(flooded),
    };
  }
}

function note(missed: Missed, { time, seq }: Readonly<DnsLookup>): void {
  missed.count++;
  if (time < missed.first) missed.first = time;
  if (time > missed.last) missed.last = time;
  missed.seqs = keepEarliest(missed.seqs, seq);
}

function noneMissed(): Missed {
  return {
    ...neverEvaluated(),
    count: 0,
    names: emptySketch(),
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
    seqs: nothing,
  };
}

function noneFlooded(): Flooded {
  return {
    ...noneMissed(),
    probes: emptySketch(),
    searched: 0,
    failed: 0,
    clients: emptySketch(),
    by: new Map(),
  };
}

function mergeMissed(into: Missed, from: Missed, size = clientSketchSize): void {
  mergeEvaluations(into, from);
  into.count += from.count;
  mergeSketches(into.names, size, from.names);
  mergeSpans(into, from);
}

function mergeFlooded(into: Flooded, from: Flooded): void {
  mergeMissed(into, from, domainSketchSize);
  mergeSketches(into.probes, domainSketchSize, from.probes);
  into.searched += from.searched;
  into.failed += from.failed;
  mergeSketches(into.clients, clientsSketchSize, from.clients);
  mergeFrequent(into.by, from.by, resolvers);
}

const refs = ({ seqs }: Missed) => seqs.map((seq): StoredEventRef => ({ table: 'dns', seq }));
