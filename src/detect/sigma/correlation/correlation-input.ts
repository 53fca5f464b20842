import { boundedText } from './bounded-text.ts';
import { type CorrelationLimits, correlationLimits } from './correlation-limits.ts';
import type { Feed } from './linked.ts';

/** A value as correlations keep it. */
export type Value = string | null;

/** What the match of a rule tells one correlation that names the rule. Plain data. */
export interface CorrelationInput {
  /** Key of the correlation. */
  readonly correlation: string;
  /** Key of the rule. */
  readonly rule: string;
  /** When the event was, in ms since 1970. */
  readonly timestamp: number;
  /** Values of the fields to group by, in their order; null where the record has none. */
  readonly group: readonly Value[];
  /** What is counted; null where the record doesn't have it. */
  readonly value: Value;
  /** For correlations of the correlation. */
  readonly carried: readonly Value[];
  /** The principal that sent the record, a space, and the id of its event where it is stored. */
  readonly event?: string | undefined;
  /** Its addresses and ports, of which a group passes on those that all of its inputs share. Plain data. */
  readonly ends?: unknown;
}

/** The principal of a reference; '' where it is unknown: earlier versions wrote only the id. */
export function senderOf(event: string): string {
  return event.slice(0, Math.max(0, event.indexOf(' ')));
}

/** Reads from a matched record what a correlation wants to know. */
export function correlationInput(
  feed: Feed,
  read: (field: string) => unknown,
  timestamp: number,
  more: { readonly event?: string | undefined; readonly ends?: unknown } = {},
  limits: CorrelationLimits = correlationLimits,
): CorrelationInput {
  const value = (field: string) => recordValue(read(field), limits);
  return {
    correlation: feed.correlation,
    rule: feed.rule,
    timestamp,
    group: feed.group.map(value),
    value: joinedValue(feed.value.map(value), limits),
    carried: feed.carried.map(value),
    ...more,
  };
}

/** Text of a scalar, or of a list of scalars; null of what is missing or has parts of its own. */
export function recordValue(value: unknown, limits: CorrelationLimits): Value {
  if (Array.isArray(value)) {
    const texts = value.slice(0, 100).map((one) => scalarText(one));
    return texts.includes(null) || texts.length === 0
      ? null
      : boundedText(texts.join(','), limits.valueLength);
  }
  const text = scalarText(value);
  return text === null ? null : boundedText(text, limits.valueLength);
}

function scalarText(value: unknown): Value {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  return null;
}

/** Several fields are one value together, of which parts may be missing. */
export function joinedValue(values: readonly Value[], limits: CorrelationLimits): Value {
  if (values.length < 2) return values[0] ?? null;
  return values.every((one) => one === null) ? null : boundedText(JSON.stringify(values), limits.valueLength);
}
