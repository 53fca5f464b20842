import type { Severity } from '../../contract/vocabulary.ts';

/** What a rule looks at (Sigma rules 2.1.0, "log source"). */
export interface Logsource {
  readonly category?: string;
  readonly product?: string;
  readonly service?: string;
  readonly definition?: string;
}

/** How ripe a rule is. */
export const ruleStatuses = ['stable', 'test', 'experimental', 'deprecated', 'unsupported'] as const;
export type RuleStatus = (typeof ruleStatuses)[number];

/** What all kinds of documents say of themselves. Texts are well-formed and bounded. */
export interface Head {
  readonly title: string;
  readonly id?: string;
  /** By which other documents name it, instead of the id. */
  readonly name?: string;
  readonly status?: RuleStatus;
  readonly description?: string;
  readonly author?: string;
  /** Severity of what it finds. */
  readonly level?: Severity;
  readonly tags: readonly string[];
  readonly references: readonly string[];
  readonly falsepositives: readonly string[];
  /** Where the document begins in its text, from 1. */
  readonly line: number;
  /** Of the fields that problems may still name when it is compiled: where they are in its text, by `fieldName`. */
  readonly lines: ReadonlyMap<string, number>;
}

/** A value that a field is compared with, as YAML gives it. */
export type Scalar = string | number | boolean | null;

/** One field with its modifiers in order; `field` is undefined for a keyword search over the whole record. */
export interface SearchItem {
  readonly field: string | undefined;
  readonly modifiers: readonly string[];
  /** One of them suffices, unless the modifier `all` wants them all. */
  readonly values: readonly Scalar[];
  readonly line: number;
}

/** One search identifier: all items of one of the alternatives. */
export interface Search {
  readonly alternatives: readonly (readonly SearchItem[])[];
}

export interface RuleDocument extends Head {
  readonly kind: 'rule';
  readonly logsource: Logsource;
  readonly searches: ReadonlyMap<string, Search>;
  /** Expressions of which one suffices. */
  readonly conditions: readonly string[];
}

/** Sigma correlation rules 2.1.0. */
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

/** Bounds of what is counted, all of which must hold. */
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
  /** Fields or aliases whose values tell groups apart. */
  readonly groupBy: readonly string[];
  readonly timespanMs: number;
  readonly threshold: Threshold | undefined;
  /** What is counted, summed or ranked: one field, or several that are one value together. */
  readonly valueFields: readonly string[];
  /** Of value_percentile, 0 to 100. */
  readonly percentile: number | undefined;
  /** Of temporal types: an expression over the names of the rules, instead of all of them. */
  readonly condition: string | undefined;
  /** Name → rule → field. */
  readonly aliases: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** The rules that it names go on raising alerts of their own. */
  readonly generate: boolean;
}

/** Sigma filters 2.1.0: takes away from rules what its condition says. */
export interface FilterDocument extends Head {
  readonly kind: 'filter';
  readonly logsource: Logsource;
  /** Ids or names; undefined for every rule of its log source. */
  readonly rules: readonly string[] | undefined;
  readonly searches: ReadonlyMap<string, Search>;
  readonly conditions: readonly string[];
}

export type SigmaDocument = RuleDocument | CorrelationDocument | FilterDocument;

/** Why a document is refused, and where in its text. Lines count from 1. */
export interface Problem {
  readonly line: number;
  /** As in YAML: `detection.selection.query|contains`. */
  readonly field: string;
  readonly reason: string;
}
