import type { ruleStatuses, Severity } from '../../contract/vocabulary.ts';

/** The log source of a rule (Sigma rules 2.1.0, "log source"). */
export interface Logsource {
  readonly category?: string;
  readonly product?: string;
  readonly service?: string;
  readonly definition?: string;
}

/** Maturity of a rule. */
export type RuleStatus = (typeof ruleStatuses)[number];

/** Attributes that all kinds of documents share. Texts are well-formed and bounded. */
export interface Head {
  readonly title: string;
  readonly id?: string;
  /** A name that other documents can use instead of the id. */
  readonly name?: string;
  readonly status?: RuleStatus;
  readonly description?: string;
  readonly author?: string;
  /** Severity of the rule's findings. */
  readonly level?: Severity;
  readonly tags: readonly string[];
  readonly references: readonly string[];
  readonly falsepositives: readonly string[];
  /** Line where the document begins in its text, from 1. */
  readonly line: number;
  /** Lines of fields for problems that are found at compilation, by `fieldName`. */
  readonly lines: ReadonlyMap<string, number>;
}

/** A value to compare with a field, as parsed from YAML. */
export type Scalar = string | number | boolean | null;

/** One field with its modifiers in order; `field` is undefined for a keyword search over the whole record. */
export interface SearchItem {
  readonly field: string | undefined;
  readonly modifiers: readonly string[];
  /** Alternative values; with the modifier `all`, all values are required. */
  readonly values: readonly Scalar[];
  readonly line: number;
}

/** One search identifier, with alternatives. All items of an alternative must match. */
export interface Search {
  readonly alternatives: readonly (readonly SearchItem[])[];
}

export interface RuleDocument extends Head {
  readonly kind: 'rule';
  readonly logsource: Logsource;
  readonly searches: ReadonlyMap<string, Search>;
  /** Alternative expressions. */
  readonly conditions: readonly string[];
}

/** Types of correlations (Sigma correlation rules 2.1.0). */
export const correlationTypes = [
  'event_count',
  'value_count',
  'temporal',
  'temporal_ordered',
  'value_sum',
  'value_avg',
  'value_percentile',
] as const;
export type CorrelationType = (typeof correlationTypes)[number];

/** Bounds of the compared number, all of which must hold. */
export interface Threshold {
  readonly gt?: number;
  readonly gte?: number;
  readonly lt?: number;
  readonly lte?: number;
  readonly eq?: number;
  readonly neq?: number;
}

export interface CorrelationDocument extends Head {
  readonly kind: 'correlation';
  readonly type: CorrelationType;
  /** Ids or names of rules or of other correlations. */
  readonly rules: readonly string[];
  /** Fields or aliases by whose values inputs are grouped. */
  readonly groupBy: readonly string[];
  readonly timespanMs: number;
  readonly threshold: Threshold | undefined;
  /** The field that is counted, summed or ranked; several fields form one value. */
  readonly valueFields: readonly string[];
  /** Percentile for value_percentile, 0 to 100. */
  readonly percentile: number | undefined;
  /** For temporal types: an expression over the names of the rules. Without it, all rules are required. */
  readonly condition: string | undefined;
  /** Field by alias and rule. */
  readonly aliases: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** True if the named rules also raise their own alerts. */
  readonly generate: boolean;
}

/** A Sigma filter (2.1.0), which excludes records from rules. */
export interface FilterDocument extends Head {
  readonly kind: 'filter';
  readonly logsource: Logsource;
  /** Ids or names of rules; undefined for all rules of the filter's log source. */
  readonly rules: readonly string[] | undefined;
  readonly searches: ReadonlyMap<string, Search>;
  readonly conditions: readonly string[];
}

export type SigmaDocument = RuleDocument | CorrelationDocument | FilterDocument;

/** The reason why a document is refused, and the position in its text. Lines count from 1. */
export interface Problem {
  readonly line: number;
  /** Path in the YAML text, such as `detection.selection.query|contains`. */
  readonly field: string;
  readonly reason: string;
}
