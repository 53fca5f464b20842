import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { homePlaceholder } from '../../../src/config/part-settings.ts';
import { RecordRules } from '../../../src/detect/record-rules.ts';
import { Correlator } from '../../../src/detect/sigma/correlation/correlator.ts';
import type { LinkedCorrelation } from '../../../src/detect/sigma/correlation/linked.ts';
import { keyOf } from '../../../src/detect/sigma/correlation/references.ts';
import type { CorrelationDocument, RuleDocument } from '../../../src/detect/sigma/document.ts';
import { parseSigma } from '../../../src/detect/sigma/parse-document.ts';
import { compileRules, type RuleSet } from '../../../src/detect/sigma/rule-set.ts';
import { correlationFinding } from '../../../src/detect/sigma-finding.ts';
import type { Finding } from '../../../src/events/finding.ts';
import { type IngestInput, parseBody } from '../../../src/ingest/parse-body.ts';
import { detectors, home } from '../../ingest/ingesting.ts';

const folder = join(import.meta.dirname, '../../../src/detect/rules');

/** The files of the built-in rules. */
export const files = readdirSync(folder).map((file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  return { name: basename(file, '.yml'), text, ...parseSigma(text) };
});

export const documents = files.flatMap((file) => file.documents);

/** Returns the compiled rules of a site with these home networks. */
export const setOf = (networks: readonly string[]): RuleSet =>
  compileRules(documents, { placeholders: new Map([[homePlaceholder, networks]]) });

export const set = setOf(home);

/** Returns the id of a document in findings. */
export const idOf = (document: (typeof documents)[number]): string =>
  document.kind === 'filter' ? (document.id ?? '') : keyOf(document as RuleDocument | CorrelationDocument);

/** Passes bodies through ingest, and the matches through the correlations. */
export class Watch {
  readonly #home: readonly string[];
  readonly #rules: RecordRules;
  readonly #correlator: Correlator;
  readonly #byKey: ReadonlyMap<string, LinkedCorrelation>;
  /** Rules that matched, including those that only feed correlations, and correlations that fired. */
  readonly seen = new Set<string>();
  /** Findings of Sigma rules, without the sensors' own alerts. */
  readonly findings: Finding[] = [];
  records = 0;

  constructor(networks: readonly string[] = home) {
    const its = networks === home ? set : setOf(networks);
    this.#home = networks;
    this.#rules = new RecordRules(its);
    // Correlations that only feed other correlations are also reported here.
    this.#correlator = new Correlator(its.correlations.map((one) => ({ ...one, raises: true })));
    this.#byKey = new Map(its.correlations.map((one) => [one.key, one]));
  }

  take(body: Uint8Array, options: Partial<IngestInput> = {}): void {
    const receivedAt = Date.UTC(2030, 0, 1);
    const parsed = parseBody(
      {
        pieces: [new Uint8Array(body).buffer],
        length: body.byteLength,
        mediaType: 'ndjson',
        receivedAt,
        home: this.#home,
        digest: false,
        ...options,
      },
      { ...detectors, rules: this.#rules },
    );
    this.records += parsed.answer.accepted + parsed.answer.ignored;
    for (const [rule] of parsed.hits) this.seen.add(rule);
    this.findings.push(...parsed.findings.filter(({ rule_source }) => rule_source === 'sigma'));
    const inputs = parsed.facts.map(({ event: _, ...fact }) => fact);
    for (const fired of this.#correlator.take(inputs, receivedAt)) {
      this.seen.add(fired.correlation);
      const correlation = this.#byKey.get(fired.correlation)!;
      if (correlation.raises) this.findings.push(correlationFinding(correlation, fired));
    }
  }
}
