import { limits } from '../../../limits.ts';

/** Limits of correlations for untrusted authors and traffic. */
export const correlationLimits = {
  /** Maximum rules of one correlation. */
  rules: limits.maxCorrelationRules,
  /** Maximum fields to group by, and maximum fields that form a counted value. */
  fields: limits.maxCorrelationFields,
  timespanMs: limits.maxCorrelationTimespanMs,
  /** Maximum levels of correlations of correlations. */
  depth: limits.maxCorrelationDepth,
  /** Maximum alternatives of an expanded condition over rules. */
  alternatives: limits.maxCorrelationAlternatives,
  /** Maximum threshold of value_count. */
  distinct: limits.maxCorrelationDistinct,
  /** Maximum groups of one correlation. */
  groups: limits.maxCorrelationGroups,
  /** Maximum inputs that one group stores individually. */
  entries: limits.maxCorrelationEntries,
  /**
   * Maximum inputs within a timespan of a late input for evaluating all windows that contain the late input. If there
   * are more inputs, only the window that ends with the newest input is evaluated.
   */
  lookback: limits.maxCorrelationLookback,
  /** Maximum age of an input, relative to the newest of its group; at least one timespan. */
  delayMs: limits.maxEventDelayMs,
  /** Maximum entries of all groups of all correlations. `groupUnits` adds the cost of each group. */
  units: limits.maxCorrelationUnits,
  /** Maximum references to events per group. */
  samples: limits.maxCorrelationSamples,
  /**
   * Maximum characters of a grouped or counted value. Longer values are reduced to their beginning and hash.
   */
  valueLength: limits.maxCorrelationValueLength,
  /** Maximum time by which inputs can be ahead of the owner's clock. */
  leadMs: limits.maxClockLeadMs,
} as const;

export type CorrelationLimits = { readonly [K in keyof typeof correlationLimits]: number };
