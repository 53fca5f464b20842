import { limits } from '../../../limits.ts';

/** Limits of correlations for untrusted authors and traffic. */
export interface CorrelationLimits {
  /** Maximum rules of one correlation. */
  readonly rules: number;
  /** Maximum fields to group by, and maximum fields that form a counted value. */
  readonly fields: number;
  readonly timespanMs: number;
  /** Maximum levels of correlations of correlations. */
  readonly depth: number;
  /** Maximum alternatives of an expanded condition over rules. */
  readonly alternatives: number;
  /** Maximum threshold of value_count. */
  readonly distinct: number;
  /** Maximum groups of one correlation. */
  readonly groups: number;
  /** Maximum inputs that one group stores individually. */
  readonly entries: number;
  /**
   * Maximum inputs within a timespan of a late input for evaluating all windows that contain the late input. If there
   * are more inputs, only the window that ends with the newest input is evaluated.
   */
  readonly lookback: number;
  /** Maximum age of an input, relative to the newest of its group; at least one timespan. */
  readonly delayMs: number;
  /** Maximum entries of all groups of all correlations. `groupUnits` adds the cost of each group. */
  readonly units: number;
  /** Maximum references to events per group. */
  readonly samples: number;
  /**
   * Maximum characters of a grouped or counted value. Longer values are reduced to their beginning and hash.
   */
  readonly valueLength: number;
  /** Maximum time by which inputs can be ahead of the owner's clock. */
  readonly leadMs: number;
}

export const correlationLimits: CorrelationLimits = {
  rules: limits.maxCorrelationRules,
  fields: limits.maxCorrelationFields,
  timespanMs: limits.maxCorrelationTimespanMs,
  depth: limits.maxCorrelationDepth,
  alternatives: limits.maxCorrelationAlternatives,
  distinct: limits.maxCorrelationDistinct,
  groups: limits.maxCorrelationGroups,
  entries: limits.maxCorrelationEntries,
  lookback: limits.maxCorrelationLookback,
  delayMs: limits.maxEventDelayMs,
  units: limits.maxCorrelationUnits,
  samples: limits.maxCorrelationSamples,
  valueLength: limits.maxCorrelationValueLength,
  leadMs: limits.maxClockLeadMs,
};
