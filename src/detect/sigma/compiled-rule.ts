import type { Severity } from '../../contract/vocabulary.ts';
import type { Feed } from './correlation/linked.ts';
import type { Logsource, RuleDocument } from './document.ts';
import type { RecordKind } from './record.ts';

/** A rule that records are asked about. */
export interface CompiledRule {
  /** Id, or name, or title: by what correlations and state know it. Unique in its set. */
  readonly id: string;
  readonly title: string;
  /** `medium` where the rule says none. */
  readonly level: Severity;
  readonly logsource: Logsource;
  readonly document: RuleDocument;
  /** The kinds of record that can answer it. */
  readonly kinds: readonly RecordKind[];
  /** Fields that it asks for and that none of these kinds has: parts of it that never hold. */
  readonly missingFields: readonly string[];
  /** Titles of the filters that take something away from it. */
  readonly filters: readonly string[];
  /** A correlation that names it raises alerts instead. */
  readonly silent: boolean;
  /** What to tell correlations of a match. */
  readonly feeds: readonly Feed[];
}
