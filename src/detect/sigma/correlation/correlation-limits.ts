import { limits } from '../../../limits.ts';

/** What bounds correlations, whoever writes them and whatever arrives. */
export interface CorrelationLimits {
  /** Rules that one correlation names. */
  readonly rules: number;
  /** Fields of a group, and of a counted value. */
  readonly fields: number;
  readonly timespanMs: number;
  /** Correlations of correlations. */
  readonly depth: number;
  /** Alternatives that a condition over rules comes down to. */
  readonly alternatives: number;
  /** Different values that a threshold of value_count may ask for. */
  readonly distinct: number;
  /** Groups of one correlation. */
  readonly groups: number;
  /** Inputs that one group keeps one by one. */
  readonly entries: number;
  /** Inputs around a late one that it may have, for windows that end before the newest to be looked at. */
  readonly lookback: number;
  /** How much older than the newest of its group an input may be, where that is more than a timespan. */
  readonly delayMs: number;
  /** Entries of all groups of all correlations, where a group itself is as many as `groupCost` says. */
  readonly units: number;
  /** References to events that a group keeps. */
  readonly samples: number;
  /** Characters of a value that makes a group or is counted; of a longer one its beginning and its hash are taken. */
  readonly valueLength: number;
  /** How far ahead of the owner's clock inputs may be. */
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
