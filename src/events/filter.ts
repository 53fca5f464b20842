import type { Severity } from '../contract/vocabulary.ts';

/**
 * Which events are wanted: every part must hold (AND), one value of a term suffices (OR). Plain data that crosses
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

/** `field` is an attribute of the resource, or `ip` (either end). Address values may be CIDR blocks. */
export interface FilterTerm {
  readonly field: string;
  readonly values: readonly (string | number | boolean)[];
}
