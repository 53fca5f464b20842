import type { Severity } from '../../contract/vocabulary.ts';
import { severities } from '../../contract/vocabulary.ts';
import type { Detector, DetectorCard, EventRef, Left, Lookup, Sighted, Tell } from './detector.ts';
import {
  addDistinct,
  countDistinct,
  type Distinct,
  distinctBytes,
  eachMark,
  mergeDistinct,
  noneDistinct,
} from './distinct-names.ts';
import { byNames, scoreTunnel, type TunnelScore } from './dns-tunnel-score.ts';
import { keepEarliest, mergeEarliest } from './earliest.ts';
import { addFrequent, type Frequent, mergeFrequent, mostFrequent } from './frequent.ts';
import { isJudgementDue, type Judged, mergeJudged, neverJudged } from './judged.ts';
import { knownDomains } from './known-domains.ts';
import { Names } from './names.ts';
import { nothing } from './put-at.ts';
import { dueOf, type Window, Windows } from './windows.ts';

export const tunnelTunables = {
  /** Registered domains that are left aside, because nobody but their owner can answer below them. */
  allowed: knownDomains as readonly string[],
  /** Types by which answers carry more than an address. Iodine and dnscat2 use these. */
  carriers: ['TXT', 'NULL', 'PRIVATE', 'CNAME', 'MX', 'KEY', '65399'] as readonly string[],
  /** Characters below the registered domain from which on a name is looked at: `www` carries nothing. */
  minPayload: 4,
  /** Different names from which on a domain is judged: 12 by a carrier's type are enough, if all are encoded. */
  minNames: 12,
  /** Scores from which on it is told, and how grave it is. */
  severity: { low: 0.35, medium: 0.5, high: 0.75 },
  /** A slow tunnel shows only over a day: seven slots are 24 hours and the one that has begun. */
  slotMs: 4 * 3_600_000,
  slots: 7,
  /** Told again while it goes on. */
  againMs: 24 * 3_600_000,
  /** Pairs of client and domain that are kept; names by which a tunnel defends itself against that are seen as a storm. */
  maxKeys: 16_384,
  /** Bytes that they may take. */
  maxBytes: 12 * 2 ** 20,
};

/** Exact up to all of RITA's thresholds. */
const nameTerms = { max: 1024, texts: 5 };
/** Resolvers counted. */
const resolvers = 4;
/** Of a mark, the bit for what looks encoded; the others are the payload. */
const encodedBit = 0x80;
const maxPayload = 0x7f;

interface Asked extends Judged {
  /** Answered, and not: sensors that report questions and answers apart report each name twice. */
  answered: number;
  open: number;
  carriers: number;
  /** Characters of answers to questions of carriers' types. */
  answerLength: number;
  missing: number;
  readonly names: Distinct;
  readonly types: Frequent;
  readonly by: Frequent;
  first: number;
  last: number;
  seqs: number[];
}

/**
 * A client sends data in the names that it asks for below one registered domain, and gets some in the answers. Judged by
 * how many different names there were, with RITA's thresholds, and by what they look like: encoded labels, their length,
 * types that carry texts, and that no name is asked for twice. Names of addresses (`1.2.3.4.list.example`), reverse
 * look-ups and domains of clouds don't count; a tunnel that writes its data as words or as addresses is told only by
 * the number of its names, and then as low.
 *
 * 12 MB at the most, and 5 MB of names.
 */
export class DnsTunnelDetector implements Detector {
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
  readonly #terms: typeof tunnelTunables;
  readonly #names: Names;
  readonly #allowed: ReadonlySet<string>;
  readonly #carriers: ReadonlySet<string>;
  readonly #windows: Windows<Asked>;

  /** `names` may be that of other detectors: what one looked up, the next finds. */
  constructor(names: Names = new Names(), terms: Partial<typeof tunnelTunables> = {}) {
    this.#terms = { ...tunnelTunables, ...terms };
    this.#names = names;
    this.#allowed = new Set(this.#terms.allowed);
    this.#carriers = new Set(this.#terms.carriers);
    const { slotMs, slots, maxKeys, maxBytes } = this.#terms;
    this.#windows = new Windows({
      slotMs,
      slots,
      maxKeys,
      maxWeight: maxBytes,
      weigh: ({ names }) => 1000 + distinctBytes(names),
      create: none,
      merge,
    });
  }

  get left(): Left {
    return this.#windows.left;
  }

  lookup(lookup: Readonly<Lookup>): void {
    if (!lookup.srcHome || lookup.query === '') return;
    const name = this.#names.of(lookup.query);
    if (name.payload < this.#terms.minPayload || name.kind === 'address') return;
    if (this.#allowed.has(name.domain)) return;
    const asked = this.#windows.at(`${lookup.src} ${name.domain}`, lookup.time);
    if (asked === undefined) return;
    const { qtype = '', answers } = lookup;
    if (Number.isNaN(lookup.rcode)) asked.open++;
    else asked.answered++;
    if (lookup.rcode === 3) asked.missing++;
    if (this.#carriers.has(qtype)) {
      asked.carriers++;
      asked.answerLength += answers === undefined ? 0 : answers.length;
    }
    const mark = Math.min(name.payload, maxPayload) | (name.isEncoded ? encodedBit : 0);
    addDistinct(asked.names, nameTerms, name.hash, mark, name.text);
    addFrequent(asked.types, qtype, resolvers);
    addFrequent(asked.by, lookup.dst, resolvers);
    if (lookup.time < asked.first) asked.first = lookup.time;
    if (lookup.time > asked.last) asked.last = lookup.time;
    asked.seqs = keepEarliest(asked.seqs, lookup.seq);
  }

  judge(tell: Tell, refreshes?: boolean): void {
    for (const window of this.#windows.changed(refreshes)) {
      if (!this.#isWorth(window)) continue;
      const asked = this.#windows.total(window);
      const seen = figures(asked);
      if (seen.names < this.#terms.minNames) continue;
      const score = scoreTunnel(seen);
      const severity = this.#severity(score.score);
      if (severity === undefined) continue;
      const rank = severities.indexOf(severity);
      const due = dueOf(window, rank, asked.last, this.#terms.againMs, seen.names);
      if (due !== undefined) tell(this.#sighted(window.key, asked, seen, score, severity), due);
    }
  }

  state(): unknown {
    return this.#windows.state();
  }

  restore(state: unknown): void {
    this.#windows.restore(state as ReturnType<Windows<Asked>['state']>);
  }

  merge(state: unknown): void {
    this.#windows.merge(state as ReturnType<Windows<Asked>['state']>);
  }

  /** Whether there can be something to tell: adding up the slots of a large tunnel at each judgement would cost most. */
  #isWorth(window: Window<Asked>): boolean {
    const { slots } = window;
    let names = 0;
    let last = Number.NEGATIVE_INFINITY;
    for (const { value: asked } of slots) {
      names += asked.names.size;
      last = Math.max(last, asked.last);
    }
    if (names < this.#terms.minNames) return false;
    if (isJudgementDue(window, names, last)) return true;
    this.#windows.defer(window);
    return false;
  }

  #severity(score: number): Severity | undefined {
    const { low, medium, high } = this.#terms.severity;
    return score >= high ? 'high' : score >= medium ? 'medium' : score >= low ? 'low' : undefined;
  }

  #sighted(
    key: string,
    asked: Asked,
    seen: ReturnType<typeof figures>,
    score: TunnelScore,
    severity: Severity,
  ): Sighted {
    const space = key.indexOf(' ');
    const src = key.slice(0, space);
    const domain = key.slice(space + 1);
    const seconds = Math.max(1, Math.round((asked.last - asked.first) / 1000));
    const [resolver] = mostFrequent(asked.by, 1)[0]!;
    const percent = (share: number) => `${Math.round(100 * share)} %`;
    return {
      title: `${src} sends data in DNS names of ${domain}`,
      description: `${src} asked for ${seen.names} different names below ${domain} within ${span(seconds)}; ${percent(seen.encodedShare)} of them look like encoded data, and ${percent(seen.carrierShare)} of the questions were of types that carry texts. This is how data leave, and orders come in, through DNS where nothing else is let through. Find the program on ${src} that asks, look at what ${domain} is, and block the domain at ${resolver} if nobody knows it.`,
      severity,
      confidence: Math.min(0.95, score.score),
      timestamp: asked.last,
      began: asked.first,
      ends: { src_ip: src, dst_ip: resolver, domain },
      keyed_by: ['src_ip'],
      about: domain,
      evidence: {
        domain,
        distinct_names: seen.names,
        questions: seen.questions,
        nxdomain_share: round(seen.missingShare),
        encoded_share: round(seen.encodedShare),
        mean_payload_characters: round(seen.payload),
        carried_characters: Math.round(seen.names * seen.payload),
        carrier_type_share: round(seen.carrierShare),
        types: mostFrequent(asked.types, resolvers).map(([type, count]) => `${type}: ${count}`),
        mean_answer_characters: round(seen.answer),
        uniqueness: round(seen.uniqueness),
        seconds,
        names_per_minute: round((60 * seen.names) / seconds),
        score: round(score.score),
        score_by_names: round(score.byNames),
        score_of_content: round(score.content),
        score_ramp: round(score.ramp),
        thresholds_names: byNames.map(([names]) => names),
        threshold_low: this.#terms.severity.low,
        threshold_medium: this.#terms.severity.medium,
        threshold_high: this.#terms.severity.high,
        resolvers: mostFrequent(asked.by, resolvers).map(([address]) => address),
        some_names: asked.names.texts.map((text) => text.slice(0, 253)),
      },
      events: asked.seqs.map((seq): EventRef => ({ table: 'dns', seq })),
    };
  }
}

function figures({ names, answered, open, carriers, answerLength, missing }: Asked) {
  const distinct = countDistinct(names, nameTerms);
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

function none(): Asked {
  return {
    ...neverJudged(),
    answered: 0,
    open: 0,
    carriers: 0,
    answerLength: 0,
    missing: 0,
    names: noneDistinct(),
    types: new Map(),
    by: new Map(),
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
    seqs: nothing,
  };
}

function merge(into: Asked, from: Asked): void {
  mergeJudged(into, from);
  into.answered += from.answered;
  into.open += from.open;
  into.carriers += from.carriers;
  into.answerLength += from.answerLength;
  into.missing += from.missing;
  mergeDistinct(into.names, nameTerms, from.names);
  mergeFrequent(into.types, from.types, resolvers);
  mergeFrequent(into.by, from.by, resolvers);
  into.first = Math.min(into.first, from.first);
  into.last = Math.max(into.last, from.last);
  into.seqs = mergeEarliest(into.seqs, from.seqs);
}

const round = (value: number) => Math.round(value * 1000) / 1000;

function span(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds / 3600)} hours`;
}
