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
import { keepEarliest, mergeEarliest } from './earliest.ts';
import { isJudgementDue, type Judged, mergeJudged, neverJudged } from './judged.ts';
import { generatedFrom, modelVersion } from './name-model.ts';
import { type Name, Names } from './names.ts';
import { nothing } from './put-at.ts';
import { dueOf, Windows } from './windows.ts';

export const generatedTunables = {
  /** Different generated-looking domains that don't exist, from which on it is told. One in 160 ordinary names looks so. */
  minGenerated: 8,
  /** … from which on it is grave by itself. Malware asks for hundreds a day; a browser's cache of ads doesn't. */
  manyGenerated: 30,
  /** … and with one that was found after them. */
  manyWithFound: 12,
  /** Of the domains that don't exist, those that look generated. Half of those of families that can be pronounced do. */
  minShare: 0.4,
  /** Families ask for all names of a day at once, or one every few minutes. */
  slotMs: 2 * 3_600_000,
  slots: 13,
  /** Told again while it goes on. */
  againMs: 24 * 3_600_000,
  /** Clients kept. */
  maxKeys: 8192,
  /** Bytes that they may take. */
  maxBytes: 8 * 2 ** 20,
};

/** Exact up to 512 domains that don't exist, then an error of 4 %. */
const missingTerms = { max: 512, texts: 8 };
/** Generated-looking domains that exist: those with the highest scores. */
const maxFound = 8;
/** A score is kept in a byte. */
const markOfOne = 255;

interface Found {
  readonly domain: string;
  readonly score: number;
  /** When it was asked for last. */
  time: number;
}

interface Looked extends Judged {
  /** All that don't exist, by their scores. */
  readonly missing: Distinct;
  /** Those of them that look generated: for the sample. */
  readonly generated: Distinct;
  readonly found: Found[];
  first: number;
  last: number;
  seqs: number[];
}

/**
 * A client asks for many registered domains that look made up by a program, most of which don't exist: malware that looks
 * for its master under the names of the day. Never told of a single name. A generated-looking domain that was found after
 * the first that were not is named: there the master may be. Names of families that put words together look like those
 * that people choose; they are seen as a storm of names that don't exist.
 *
 * 8 MB at the most, and 5 MB of names.
 */
export class GeneratedNamesDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'generated-names',
    version: 1,
    name: 'Generated domain names',
    category: 'command-and-control',
    mitre: { tactics: ['TA0011'], techniques: ['T1568.002'] },
  };
  readonly #terms: typeof generatedTunables;
  readonly #names: Names;
  readonly #windows: Windows<Looked>;

  /** `names` may be that of other detectors. */
  constructor(names: Names = new Names(), terms: Partial<typeof generatedTunables> = {}) {
    this.#terms = { ...generatedTunables, ...terms };
    this.#names = names;
    const { slotMs, slots, maxKeys, maxBytes } = this.#terms;
    this.#windows = new Windows({
      slotMs,
      slots,
      maxKeys,
      maxWeight: maxBytes,
      weigh: ({ missing, generated, found }) =>
        500 + distinctBytes(missing) + distinctBytes(generated) + 100 * found.length,
      create: none,
      merge,
    });
  }

  get left(): Left {
    return this.#windows.left;
  }

  lookup(lookup: Readonly<Lookup>): void {
    if (!lookup.srcHome) return;
    const isMissing = lookup.rcode === 3;
    if (!isMissing && (lookup.rcode !== 0 || lookup.answers === undefined)) return;
    const name = this.#names.of(lookup.query);
    const isGenerated = name.score >= generatedFrom;
    // What isn't found below a domain says nothing of the domain.
    if (!isMissing ? !isGenerated : !isWholeDomain(name)) return;
    const looked = this.#windows.at(lookup.src, lookup.time);
    if (looked === undefined) return;
    const { domain, domainHash, score } = name;
    if (!isMissing) {
      keepFound(looked.found, domain, score, lookup.time);
      return;
    }
    const mark = Math.round(score * markOfOne);
    addDistinct(looked.missing, missingTerms, domainHash, mark, domain);
    if (!isGenerated) return;
    addDistinct(looked.generated, missingTerms, domainHash, mark, domain);
    if (lookup.time < looked.first) looked.first = lookup.time;
    if (lookup.time > looked.last) looked.last = lookup.time;
    looked.seqs = keepEarliest(looked.seqs, lookup.seq);
  }

  judge(tell: Tell, refreshes?: boolean): void {
    const { minGenerated, minShare, manyGenerated, manyWithFound, againMs } = this.#terms;
    for (const window of this.#windows.changed(refreshes)) {
      let most = 0;
      let last = Number.NEGATIVE_INFINITY;
      for (const { value: looked } of window.slots) {
        // A domain that was found is news as well.
        most += looked.generated.size + looked.found.length;
        last = Math.max(last, looked.last);
      }
      if (most < minGenerated) continue;
      if (!isJudgementDue(window, most, last)) {
        this.#windows.defer(window);
        continue;
      }
      const looked = this.#windows.total(window);
      const generated = countDistinct(looked.generated, missingTerms);
      const missing = countDistinct(looked.missing, missingTerms);
      if (generated < minGenerated || generated < minShare * missing) continue;
      const found = looked.found.filter(({ time }) => time >= looked.first);
      const many = found.length > 0 ? manyWithFound : manyGenerated;
      const severity: Severity = generated >= many ? 'high' : 'medium';
      const due = dueOf(window, severities.indexOf(severity), looked.last, againMs, generated);
      if (due !== undefined)
        tell(this.#sighted(window.key, looked, { generated, missing, found }, severity), due);
    }
  }

  state(): unknown {
    return this.#windows.state();
  }

  restore(state: unknown): void {
    this.#windows.restore(state as ReturnType<Windows<Looked>['state']>);
  }

  merge(state: unknown): void {
    this.#windows.merge(state as ReturnType<Windows<Looked>['state']>);
  }

  #sighted(
    src: string,
    looked: Looked,
    seen: { generated: number; missing: number; found: readonly Found[] },
    severity: Severity,
  ): Sighted {
    const { generated, missing, found } = seen;
    const { minGenerated, manyGenerated, minShare } = this.#terms;
    const share = Math.min(1, generated / missing);
    let sum = 0;
    eachMark(looked.missing, (mark) => {
      sum += mark;
    });
    const rendezvous = found[0]?.domain;
    const samples = looked.generated.texts;
    const where =
      rendezvous === undefined
        ? 'None that looks so was found yet: it goes on looking.'
        : `${rendezvous} was found after them and may be where it meets its master: look at what was sent there first, and block it.`;
    return {
      title: `${src} asks for generated domain names`,
      description: `${src} asked for ${missing} domains that don't exist, of which ${generated} look as if a program had made them up, such as ${samples.slice(0, 3).join(', ')}. Malware does so to find its master under the names of the day. ${where} Find the program on ${src} that asks.`,
      severity,
      confidence: Math.min(0.95, 0.5 + 0.3 * share + 0.2 * Math.min(1, generated / manyGenerated)),
      timestamp: looked.last,
      began: looked.first,
      ends: { src_ip: src, ...(rendezvous === undefined ? {} : { domain: rendezvous }) },
      evidence: {
        generated_domains: generated,
        nonexistent_domains: missing,
        generated_share: round(share),
        mean_score: round(sum / markOfOne / looked.missing.size),
        nxdomain_share: round(generated / (generated + found.length)),
        some_generated: samples,
        found_domains: found.map(({ domain }) => domain),
        found_scores: found.map(({ score }) => round(score)),
        model: modelVersion,
        score_from: generatedFrom,
        seconds: Math.round((looked.last - looked.first) / 1000),
        threshold_domains: minGenerated,
        threshold_high: manyGenerated,
        threshold_share: minShare,
      },
      events: looked.seqs.map((seq): EventRef => ({ table: 'dns', seq })),
    };
  }
}

/** The domain itself, or its web server: what programs that look for a domain ask for. */
function isWholeDomain({ domain, text }: Name): boolean {
  if (domain === '') return false;
  return text === domain || (text.length === domain.length + 4 && text.startsWith('www.'));
}

/** Highest score first; of those alike, by name: in any order the same. */
function keepFound(found: Found[], domain: string, score: number, time: number): void {
  const known = found.find((one) => one.domain === domain);
  if (known !== undefined) {
    known.time = Math.max(known.time, time);
    return;
  }
  const at = found.findIndex((one) => one.score < score || (one.score === score && one.domain > domain));
  if (at < 0 && found.length === maxFound) return;
  found.splice(at < 0 ? found.length : at, 0, { domain, score, time });
  if (found.length > maxFound) found.pop();
}

function none(): Looked {
  return {
    ...neverJudged(),
    missing: noneDistinct(),
    generated: noneDistinct(),
    found: [],
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
    seqs: nothing,
  };
}

function merge(into: Looked, from: Looked): void {
  mergeJudged(into, from);
  mergeDistinct(into.missing, missingTerms, from.missing);
  mergeDistinct(into.generated, missingTerms, from.generated);
  for (const { domain, score, time } of from.found) keepFound(into.found, domain, score, time);
  into.first = Math.min(into.first, from.first);
  into.last = Math.max(into.last, from.last);
  into.seqs = mergeEarliest(into.seqs, from.seqs);
}

const round = (value: number) => Math.round(value * 1000) / 1000;
