import type { CorrelationFact } from './correlation-fact.ts';
import type { Finding } from './finding.ts';

/** Receives the matches of rules in one record. */
export interface RuleSink {
  /** The event of the record; undefined if no event is stored. */
  readonly event: Finding['event'];
  /** Called for each matching rule, even if the rule does not raise alerts. */
  hit(rule: string): void;
  find(finding: Finding): void;
  tell(fact: CorrelationFact): void;
  /** Called for a rule that took longer than `limits.slowRuleMs` for a record. */
  slow(rule: string, ms: number): void;
}
