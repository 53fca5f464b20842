import type { CorrelationDocument, Problem } from '../document.ts';
import type { Named } from './references.ts';
import type { Alternative } from './rule-condition.ts';

/** The fields that a correlation needs from the matches of a rule. */
export interface Feed {
  /** Key of the correlation. */
  readonly correlation: string;
  /** Key of the rule. */
  readonly rule: string;
  /** Fields to group by, in the order of the correlation. */
  readonly group: readonly string[];
  /** Fields of the counted value; empty if no value is counted. */
  readonly value: readonly string[];
  /** Fields that outer correlations group by or count, and that this correlation does not group by. */
  readonly carried: readonly string[];
}

/** The position of a value in the output of an inner correlation. */
export interface Source {
  readonly from: 'group' | 'carried';
  readonly index: number;
}

/** The output of a correlation for an outer correlation that names it. */
export interface OuterFeed {
  /** Key of the outer correlation. */
  readonly correlation: string;
  readonly group: readonly Source[];
  readonly value: readonly Source[];
  readonly carried: readonly Source[];
  /**
   * True if the outer correlation needs each window that meets the condition, not only the beginning of an
   * episode.
   */
  readonly whileMet: boolean;
}

/** A correlation that can run. */
export interface LinkedCorrelation {
  /** Key, unique among correlations. */
  readonly key: string;
  readonly document: CorrelationDocument;
  /** Keys of the rules, in the order of the correlation. */
  readonly rules: readonly string[];
  /**
   * Combinations of rules; the condition is met if at least one combination is present. Undefined if the number of
   * rules, or a value other than rules, is compared.
   */
  readonly alternatives: readonly Alternative[] | undefined;
  readonly carried: readonly string[];
  readonly outer: readonly OuterFeed[];
  /** True if the correlation raises alerts. False if it only creates inputs of other correlations. */
  readonly raises: boolean;
  /** Hash that is equal for correlations that count the same values in the same way. */
  readonly hash: string;
}

export interface LinkedCorrelations {
  /** Correlations, each after the correlations that it names. */
  readonly correlations: readonly LinkedCorrelation[];
  readonly refused: readonly {
    readonly document: CorrelationDocument;
    readonly problems: readonly Problem[];
  }[];
  /**
   * Rules and correlations that raise no separate alerts, because a correlation that names them raises
   * alerts.
   */
  readonly silent: ReadonlySet<Named>;
  /** Correlation inputs to create for matches, by rule. */
  readonly feeds: ReadonlyMap<Named, readonly Feed[]>;
}
