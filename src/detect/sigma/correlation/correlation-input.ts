import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { type CorrelationLimits, correlationLimits } from './correlation-limits.ts';
import type { Feed } from './linked.ts';

/** A value in the form in which correlations store it. */
export type Value = string | null;

/** The input of one correlation from a match of one of its rules. Plain data. */
export interface CorrelationInput {
  /** Key of the correlation. */
  readonly correlation: string;
  /** Key of the rule. */
  readonly rule: string;
  /** Event time, milliseconds since 1970. */
  readonly timestamp: number;
  /** Values of the fields to group by, in the same order; null for missing values. */
  readonly group: readonly Value[];
  /** The counted value; null if the record does not contain the value. */
  readonly value: Value;
  /** Values for the outer correlations that name this correlation. */
  readonly carried: readonly Value[];
  /** The principal that sent the record, a space, and the id of its stored event, if any. */
  readonly event?: string | undefined;
  /**
   * The addresses and ports of the record. A group passes on the addresses and ports that are common to all its
   * inputs. Plain data.
   */
  readonly ends?: unknown;
}

/**
 * Returns the principal in an event reference. References from earlier versions contain only the id; the result is then
 * an empty text.
 */
export function senderOf(event: string): string {
  return event.slice(0, Math.max(0, event.indexOf(' ')));
}

/** Reads the input of a correlation from a matched record. */
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

/** Returns the text of a scalar, or of a list of scalars; null for missing values and objects. */
function recordValue(value: unknown, limits: CorrelationLimits): Value {
  if (Array.isArray(value)) {
    const texts = value.slice(0, 100).map((one) => scalarText(one));
    return texts.includes(null) || texts.length === 0 ? null : boundedText(texts.join(','), limits.valueLength);
  }
  const text = scalarText(value);
  return text === null ? null : boundedText(text, limits.valueLength);
}

function scalarText(value: unknown): Value {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return null;
}

/** Joins the values of several fields into one value. Some of the values may be missing. */
export function joinedValue(values: readonly Value[], limits: CorrelationLimits): Value {
  if (values.length < 2) return values[0] ?? null;
  return values.every((one) => one === null) ? null : boundedText(JSON.stringify(values), limits.valueLength);
}

/** Returns 128 bits of the text's SHA-256, in hexadecimal. */
export function shortHash(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)).subarray(0, 16));
}

/**
 * Returns the text, or its beginning and hash if it is longer than `maxLength`, which must be at least 33.
 */
export function boundedText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 33)}#${shortHash(text)}`;
}
