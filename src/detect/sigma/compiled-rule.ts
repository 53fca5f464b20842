import type { Severity } from '../../contract/vocabulary.ts';
import type { Feed } from './correlation/linked.ts';
import type { Logsource, RuleDocument } from './document.ts';
import type { RecordKind } from './record.ts';

/** A rule that can be evaluated. */
export interface CompiledRule {
  /**
   * The id, otherwise the name, otherwise the title. Key for correlations and state, unique within the set.
   */
  readonly id: string;
  readonly title: string;
  /** Severity; `medium` if the rule has no level. */
  readonly level: Severity;
  readonly logsource: Logsource;
  readonly document: RuleDocument;
  /** The kinds of record to which the rule applies. */
  readonly kinds: readonly RecordKind[];
  /** Fields that no kind in `kinds` has. The parts of the rule with these fields never match. */
  readonly missingFields: readonly string[];
  /** Titles of the filters that exclude records from the rule. */
  readonly filters: readonly string[];
  /** True if a correlation that names the rule raises alerts instead. */
  readonly silent: boolean;
  /** Correlation inputs to create for a match. */
  readonly feeds: readonly Feed[];
}
