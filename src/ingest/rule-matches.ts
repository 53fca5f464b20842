import type { CorrelationFact } from '../events/correlation-fact.ts';
import type { Finding } from '../events/finding.ts';
import { limits } from '../limits.ts';
import type { Found } from './detectors.ts';

/** What rules found in the records of one body. Bounded by `limits.maxBodyFindings` and `limits.maxBodyFacts`. */
export class RuleMatches implements Found {
  /** Where the record that is read lies: the block in the batch, and the row; -1 where it is no event. */
  block = -1;
  row = -1;
  readonly facts: CorrelationFact[] = [];
  readonly #findings: Finding[];
  readonly #hits = new Map<string, number>();
  readonly #slow = new Map<string, number>();
  #kept = 0;
  /** Facts whose sensor is set. */
  #named = 0;
  /** Something was left out. */
  readonly overflowed = { findings: false, facts: false };

  /** @param findings - to which those of rules are added */
  constructor(findings: Finding[]) {
    this.#findings = findings;
  }

  /** Of the record that is read; made where something asks for it. */
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

  /** The facts of a body came from this principal: those that were added since the last call. */
  nameSensor(sensor_id: string): void {
    for (; this.#named < this.facts.length; this.#named++)
      this.facts[this.#named] = { ...this.facts[this.#named]!, sensor_id };
  }

  slow(rule: string, ms: number): void {
    this.#slow.set(rule, Math.max(ms, this.#slow.get(rule) ?? 0));
  }

  /** Rules that took long for a record, with the longest time. */
  slowRules(): [rule: string, ms: number][] {
    return [...this.#slow];
  }

  /** How often each rule matched. */
  hits(): [rule: string, times: number][] {
    return [...this.#hits];
  }
}
