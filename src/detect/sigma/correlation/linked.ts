import type { CorrelationDocument, Problem } from '../document.ts';
import type { Named } from './references.ts';
import type { Alternative } from './rule-condition.ts';

/** What a match of a rule has to tell one correlation: fields to read from the record. */
export interface Feed {
  /** Key of the correlation. */
  readonly correlation: string;
  /** Key of the rule. */
  readonly rule: string;
  /** Fields whose values make the group, in its order. */
  readonly group: readonly string[];
  /** Fields of the counted value; none where none is counted. */
  readonly value: readonly string[];
  /** Fields that correlations of this correlation group by or count, and that this one does not group by. */
  readonly carried: readonly string[];
}

/** Where a correlation of correlations finds a value in what the inner one tells. */
export interface Source {
  readonly from: 'group' | 'carried';
  readonly index: number;
}

/** What a correlation tells another one that names it. */
export interface OuterFeed {
  /** Key of the outer correlation. */
  readonly correlation: string;
  readonly group: readonly Source[];
  readonly value: readonly Source[];
  readonly carried: readonly Source[];
  /** It asks whether the inner one holds, not how often it began to. */
  readonly whileMet: boolean;
}

/** A correlation that can run. */
export interface LinkedCorrelation {
  /** Unique among correlations. */
  readonly key: string;
  readonly document: CorrelationDocument;
  /** Keys of what it names, in its order. */
  readonly rules: readonly string[];
  /** Of the rules that occurred one of these must have; undefined where their number is compared, or no rules are. */
  readonly alternatives: readonly Alternative[] | undefined;
  readonly carried: readonly string[];
  readonly outer: readonly OuterFeed[];
  /** What it finds becomes alerts, not only input of others. */
  readonly raises: boolean;
  /** Same for correlations that count the same things in the same way. */
  readonly hash: string;
}

export interface LinkedCorrelations {
  /** Each after those that it names. */
  readonly correlations: readonly LinkedCorrelation[];
  readonly refused: readonly {
    readonly document: CorrelationDocument;
    readonly problems: readonly Problem[];
  }[];
  /** Rules and correlations that raise no alerts of their own, since one that names them does instead. */
  readonly silent: ReadonlySet<Named>;
  /** What to tell of matches, by the rule. */
  readonly feeds: ReadonlyMap<Named, readonly Feed[]>;
}
