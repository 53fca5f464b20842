import { type Severity, severities } from '../../contract/vocabulary.ts';
import { durationText } from '../../duration.ts';
import type { Detection, Detector, DetectorCard, DnsLookup, Emit, StoredEventRef } from './detector.ts';
import {
  addToSketch,
  countSketch,
  type DistinctSketch,
  eachMark,
  emptySketch,
  mergeSketches,
  sketchBytes,
} from './support/distinct-sketch.ts';
import { byNames, scoreTunnel, type TunnelScore } from './support/dns-tunnel-score.ts';
import { keepEarliest } from './support/earliest.ts';
import { addFrequent, type Frequent, mergeFrequent, mostFrequent } from './support/frequent.ts';
import { knownDomains } from './support/known-domains.ts';
import { isEvaluationDue, type LastEvaluation, mergeEvaluations, neverEvaluated } from './support/last-evaluation.ts';
import { Names } from './support/names.ts';
import { nothing } from './support/put-at.ts';
import { mergeSpans, type Span } from './support/span.ts';
import { thousandths } from './support/thousandths.ts';
import { WindowedDetector } from './support/windowed-detector.ts';
import { dueOf, type Window, Windows } from './support/windows.ts';

export const dnsTunnelThresholds = {
  /**
   * Registered domains that are ignored, because only the owners of these domains can answer queries below
   * them.
   */
  allowed: knownDomains as readonly string[],
  /** Query types whose answers carry more than an address. Iodine and dnscat2 use these types. */
  carriers: ['TXT', 'NULL', 'PRIVATE', 'CNAME', 'MX', 'KEY', '65399'] as readonly string[],
  /** Minimum characters below the registered domain: `www` carries no data. */
  minPayload: 4,
  /**
   * Minimum distinct names of a domain: 12 names suffice if all are encoded and queried with a carrier type.
   */
  minNames: 12,
  /** Minimum score by severity. */
  severity: { low: 0.35, medium: 0.5, high: 0.75 },
  /** A slow tunnel is visible only over a day: seven slots cover 24 hours and the current slot. */
  slotMs: 4 * 3_600_000,
  slots: 7,
  /** Time after which a continuing tunnel is reported again. */
  againMs: 24 * 3_600_000,
  /**
   * Maximum pairs of client and domain. A tunnel that uses many domains to evade this limit is reported as a
   * storm.
   */
  maxKeys: 16_384,
  /** Maximum bytes of all pairs of client and domain. */
  maxBytes: 12 * 2 ** 20,
};

/** Limits for distinct names; counts are exact up to the highest of RITA's thresholds. */
const nameSketchSize = { max: 1024, texts: 5 };
/** Maximum resolvers and query types that are counted. */
const resolvers = 4;
/** The bit of a mark that is set for a name that looks encoded. The other bits contain the length of the payload. */
const encodedBit = 0x80;
const maxPayload = 0x7f;

interface DomainQueries extends LastEvaluation, Span {
  /** Answered queries. Sensors that report queries and answers separately report each name twice. */
  answered: number;
  /** Unanswered queries. */
  open: number;
  carriers: number;
  /** Characters of the answers to queries of carrier types. */
  answerLength: number;
  missing: number;
  readonly names: DistinctSketch;
  readonly types: Frequent;
  readonly by: Frequent;
}

/**
 * Reports clients that send data in the names that they look up below one registered domain, and receive data in the
 * answers. The score depends on the number of distinct names, with RITA's thresholds, and on their content: encoded
 * labels, length, query types that carry text, and no repeated names. Names of addresses (`1.2.3.4.list.example`),
 * reverse look-ups and cloud domains are not counted. A tunnel that encodes its data as words or as addresses is only
 * detected by the number of its names, and reported with severity low.
 *
 * Memory: at most 12 MB, and 5 MB of names.
 */
export class DnsTunnelDetector extends WindowedDetector<DomainQueries> implements Detector {
  readonly card: DetectorCard = {
    id: 'dns-tunnel',
    version: 1,
    name: 'DNS tunnel',
    category: 'command-and-control',
    mitre: {
      tactics: ['TA0011', 'TA0010'],
      techniques: ['T1071.004', 'T1572', 'T1048.003'],
    },
  };
  readonly #thresholds: typeof dnsTunnelThresholds;
  readonly #names: Names;
  readonly #allowed: ReadonlySet<string>;
  readonly #carriers: ReadonlySet<string>;
  protected readonly windows: Windows<DomainQueries>;

  /** @param names - may be shared with other detectors, which then share look-ups */
  constructor(names: Names = new Names(), thresholds: Partial<typeof dnsTunnelThresholds> = {}) {
    super();
    this.#thresholds = { ...dnsTunnelThresholds, ...thresholds };
    this.#names = names;
    this.#allowed = new Set(this.#thresholds.allowed);
    this.#carriers = new Set(this.#thresholds.carriers);
    const { slotMs, slots, maxKeys, maxBytes } = this.#thresholds;
    this.windows = new Windows({
      slotMs,
      slots,
      maxKeys,
      maxWeight: maxBytes,
      weigh: ({ names }) => 1000 + sketchBytes(names),
      create: none,
      merge,
    });
  }

  lookup(lookup: Readonly<DnsLookup>): void {
    if (!lookup.srcHome || lookup.query === '') return;
    const name = this.#names.of(lookup.query);
    if (name.payload < this.#thresholds.minPayload || name.kind === 'address') return;
    if (this.#allowed.has(name.domain)) return;
    const queries = this.windows.at(`${lookup.src} ${name.domain}`, lookup.time);
    if (queries === undefined) return;
    const { qtype = '', answers } = lookup;
    if (Number.isNaN(lookup.rcode)) queries.open++;
    else queries.answered++;
    if (lookup.rcode === 3) queries.missing++;
    if (this.#carriers.has(qtype)) {
      queries.carriers++;
      queries.answerLength += answers === undefined ? 0 : answers.length;
    }
    const mark = Math.min(name.payload, maxPayload) | (name.isEncoded ? encodedBit : 0);
    addToSketch(queries.names, nameSketchSize, name.hash, mark, name.text);
    addFrequent(queries.types, qtype, resolvers);
    addFrequent(queries.by, lookup.dst, resolvers);
    if (lookup.time < queries.first) queries.first = lookup.time;
    if (lookup.time > queries.last) queries.last = lookup.time;
    queries.seqs = keepEarliest(queries.seqs, lookup.seq);
  }

  evaluate(emit: Emit, refreshes?: boolean): void {
    for (const window of this.windows.changed(refreshes)) {
      if (!this.#isWorth(window)) continue;
      const queries = this.windows.total(window);
      const seen = figures(queries);
      if (seen.names < this.#thresholds.minNames) continue;
      const score = scoreTunnel(seen);
      const severity = this.#severity(score.score);
      if (severity === undefined) continue;
      const rank = severities.indexOf(severity);
      const due = dueOf(window, rank, queries.last, this.#thresholds.againMs, seen.names);
      if (due !== undefined) emit(this.#detection(window.key, queries, seen, score, severity), due);
    }
  }

  /**
   * Returns true if there are enough names and an evaluation is due; defers the window if only the evaluation is
   * not due. Adding up the slots of a large tunnel at each evaluation would be expensive.
   */
  #isWorth(window: Window<DomainQueries>): boolean {
    const { slots } = window;
    let names = 0;
    let last = Number.NEGATIVE_INFINITY;
    for (const { value: queries } of slots) {
      names += queries.names.size;
      last = Math.max(last, queries.last);
    }
    if (names < this.#thresholds.minNames) return false;
    if (isEvaluationDue(window, names, last)) return true;
    this.windows.defer(window);
    return false;
  }

  #severity(score: number): Severity | undefined {
    const { low, medium, high } = this.#thresholds.severity;
    return score >= high ? 'high' : score >= medium ? 'medium' : score >= low ? 'low' : undefined;
  }

  #detection(
    key: string,
    queries: DomainQueries,
    seen: ReturnType<typeof figures>,
    score: TunnelScore,
    severity: Severity,
  ): Detection {
    const space = key.indexOf(' ');
    const src = key.slice(0, space);
    const domain = key.slice(space + 1);
    const seconds = Math.max(1, Math.round((queries.last - queries.first) / 1000));
    const [resolver] = mostFrequent(queries.by, 1)[0]!;
    const percent = (share: number) => `${Math.round(100 * share)} %`;
    return {
      title: `DNS tunnel: ${src} sends data in names below ${domain}`,
      description: `${src} looked up ${seen.names} distinct names below ${domain} within ${durationText(seconds * 1000)}; ${percent(seen.encodedShare)} of them look like encoded data, and ${percent(seen.carrierShare)} of the queries were of types that carry text. Tunnels use this for exfiltration and C2 where other traffic is blocked. Find the program on ${src} that makes the queries, find out who owns ${domain}, and block the domain at ${resolver} unless there is a known reason for it.`,
      severity,
      confidence: Math.min(0.95, score.score),
      timestamp: queries.last,
      began: queries.first,
      ends: { src_ip: src, dst_ip: resolver, domain },
      keyed_by: ['src_ip'],
      about: domain,
      evidence: {
        domain,
        distinct_names: seen.names,
        questions: seen.questions,
        nxdomain_share: thousandths(seen.missingShare),
        encoded_share: thousandths(seen.encodedShare),
        mean_payload_characters: thousandths(seen.payload),
        carried_characters: Math.round(seen.names * seen.payload),
        carrier_type_share: thousandths(seen.carrierShare),
        types: mostFrequent(queries.types, resolvers).map(([type, count]) => `${type}: ${count}`),
        mean_answer_characters: thousandths(seen.answer),
        uniqueness: thousandths(seen.uniqueness),
        seconds,
        names_per_minute: thousandths((60 * seen.names) / seconds),
        score: thousandths(score.score),
        score_by_names: thousandths(score.byNames),
        score_of_content: thousandths(score.content),
        score_ramp: thousandths(score.ramp),
        thresholds_names: byNames.map(([names]) => names),
        threshold_low: this.#thresholds.severity.low,
        threshold_medium: this.#thresholds.severity.medium,
        threshold_high: this.#thresholds.severity.high,
        resolvers: mostFrequent(queries.by, resolvers).map(([address]) => address),
        some_names: queries.names.texts.map((text) => text.slice(0, 253)),
      },
      events: queries.seqs.map((seq): StoredEventRef => ({ table: 'dns', seq })),
    };
  }
}

function figures({ names, answered, open, carriers, answerLength, missing }: DomainQueries) {
  const distinct = countSketch(names, nameSketchSize);
  let encoded = 0;
  let payload = 0;
  eachMark(names, (mark) => {
    if (mark >= encodedBit) encoded++;
    payload += mark & maxPayload;
  });
  const questions = Math.max(answered, open);
  return {
    names: distinct,
    questions,
    encodedShare: encoded / names.size,
    payload: payload / names.size,
    carrierShare: carriers / (answered + open),
    uniqueness: Math.min(1, distinct / questions),
    missingShare: answered === 0 ? 0 : missing / answered,
    answer: carriers === 0 ? 0 : answerLength / carriers,
  };
}

function none(): DomainQueries {
  return {
    ...neverEvaluated(),
    answered: 0,
    open: 0,
    carriers: 0,
    answerLength: 0,
    missing: 0,
    names: emptySketch(),
    types: new Map(),
    by: new Map(),
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
    seqs: nothing,
  };
}

function merge(into: DomainQueries, from: DomainQueries): void {
  mergeEvaluations(into, from);
  into.answered += from.answered;
  into.open += from.open;
  into.carriers += from.carriers;
  into.answerLength += from.answerLength;
  into.missing += from.missing;
  mergeSketches(into.names, nameSketchSize, from.names);
  mergeFrequent(into.types, from.types, resolvers);
  mergeFrequent(into.by, from.by, resolvers);
  mergeSpans(into, from);
}
