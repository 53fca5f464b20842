import type { Severity } from '../../contract/vocabulary.ts';

/**
 * Filter of events: every term must match (AND), with at least one of its values (OR). A negated term excludes all
 * its values. Plain data that crosses threads. Used for lists, live subscriptions and replays.
 */
export interface EventFilter {
  /** Start of the half-open range of `timestamp`, epoch milliseconds. */
  readonly from?: number;
  /** End of the range, exclusive. */
  readonly to?: number;
  /** Free text in names, answers, connection ids and addresses (free-text.ts). */
  readonly q?: string;
  /** Minimum severity. */
  readonly min_severity?: Severity;
  readonly terms: readonly FilterTerm[];
}

/**
 * A term for one field: an attribute of the resource, `ip` (source or destination address), `asset_id` (asset of either
 * address), or `answer` (data of a DNS answer). Address values may be CIDR blocks. A negated term matches exactly the
 * events that the term does not match, including events without the attribute.
 */
export interface FilterTerm {
  readonly field: string;
  readonly values: readonly (string | number | boolean)[];
  readonly negated?: true;
}
