import type { CorrelationFact } from '../events/correlation-fact.ts';
import type { Finding } from '../events/finding.ts';
import type { RuleSink } from '../events/rule-sink.ts';
import { limits } from '../limits.ts';

/** Rule matches in the records of a batch. Bounded by `limits.maxBodyFindings` and `limits.maxBodyFacts`. */
export class RuleMatches implements RuleSink {
  /** Block of the current record. */
  block = -1;
  /** Row of the current record; -1 if the record has no event. */
  row = -1;
  readonly facts: CorrelationFact[] = [];
  readonly #findings: Finding[];
  readonly #hits = new Map<string, number>();
  readonly #slow = new Map<string, number>();
  #kept = 0;
  /** Number of facts whose sensor is set. */
  #named = 0;
  /** For each kind of result, true if some results were left out. */
  readonly overflowed = { findings: false, facts: false };

  /** @param findings - receives the findings of rules */
  constructor(findings: Finding[]) {
    this.#findings = findings;
  }

  /** The event of the current record. */
  get event(): Finding['event'] {
    return this.row < 0 ? undefined : { block: this.block, row: this.row };
  }

  hit(rule: string): void {
    this.#hits.set(rule, (this.#hits.get(rule) ?? 0) + 1);
  }

  find(finding: Finding): void {
    if (this.#kept++ < limits.maxBodyFindings) this.#findings.push(finding);
    else this.overflowed.findings = true;
  }

  tell(fact: CorrelationFact): void {
    if (this.facts.length < limits.maxBodyFacts) this.facts.push(fact);
    else this.overflowed.facts = true;
  }

  /** Sets the principal in the facts that were added since the last call. */
  nameSensor(sensor_id: string): void {
    for (; this.#named < this.facts.length; this.#named++)
      this.facts[this.#named] = { ...this.facts[this.#named]!, sensor_id };
  }

  slow(rule: string, ms: number): void {
    this.#slow.set(rule, Math.max(ms, this.#slow.get(rule) ?? 0));
  }

  /** Returns rules that were slow for a record, with the longest time. */
  slowRules(): [rule: string, ms: number][] {
    return [...this.#slow];
  }

  /** Returns the number of matches by rule. */
  hits(): [rule: string, times: number][] {
    return [...this.#hits];
  }
}
