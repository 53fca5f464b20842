import type { Severity } from '../contract/vocabulary.ts';

/**
 * Which events are wanted: every part must hold (AND), one value of a term suffices (OR), of a negated one none
 * may match. Plain data that crosses
 * threads. The same filter serves lists, live subscriptions and replays.
 */
export interface EventFilter {
  /** Half-open range of `timestamp`, epoch milliseconds. */
  readonly from?: number;
  readonly to?: number;
  /** Free text, case-insensitive substring of the resource's names. */
  readonly q?: string;
  /** At or above. */
  readonly min_severity?: Severity;
  readonly terms: readonly FilterTerm[];
}

/**
 * `field` is an attribute of the resource, or `ip` (either end). Address values may be CIDR blocks. A negated term is true
 * of exactly those of which the term is not, so of what lacks the attribute too.
 */
export interface FilterTerm {
  readonly field: string;
  readonly values: readonly (string | number | boolean)[];
  readonly negated?: true;
}
