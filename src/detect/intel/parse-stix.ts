import { parseTime } from '../../contract/formats.ts';
import { isObject, type JsonObject } from '../../contract/json-object.ts';
import { type Collected, shown } from './collected.ts';
import type { IndicatorOptions } from './indicator.ts';
import { parsePattern } from './stix-pattern.ts';

/**
 * Reads the indicators of a STIX 2 bundle (or of a TAXII 2.1 envelope, which also has `objects`). Other
 * objects and revoked indicators are ignored.
 *
 * @returns the reason why the content is not a bundle; undefined if it is a bundle
 */
export function parseStix(bundle: unknown, into: Collected): string | undefined {
  const objects = isObject(bundle) ? bundle.objects : undefined;
  if (!Array.isArray(objects)) return 'is not a STIX bundle: it has no objects';
  for (const [object, one] of objects.entries()) {
    if (into.isFull) break;
    if (!isObject(one) || one.type !== 'indicator' || one.revoked === true) continue;
    parseIndicator(one, { object }, into);
  }
  return undefined;
}

function parseIndicator(one: JsonObject, place: { readonly object: number }, into: Collected): void {
  const { pattern, pattern_type = 'stix' } = one;
  const value = typeof pattern === 'string' ? pattern : textOf(one.name) || textOf(one.id);
  if (pattern_type !== 'stix')
    return into.reject(
      value,
      `has a pattern of type ${shown(textOf(pattern_type)) || 'unknown'}; only stix is supported`,
      place,
    );
  if (typeof pattern !== 'string') return into.reject(value, 'has no pattern', place);
  const options = optionsOf(one);
  if (typeof options === 'string') return into.reject(value, options, place);
  const comparisons = parsePattern(pattern);
  if ('reason' in comparisons) return into.reject(value, comparisons.reason, place);
  for (const comparison of comparisons) {
    if ('unsupported' in comparison) into.reject(value, comparison.unsupported, place);
    else into.add(comparison.value, options, place);
  }
}

/**
 * Reads the properties of an indicator (STIX 2.1, section 4.7). Returns the reason as a text if the properties are
 * invalid.
 */
function optionsOf({
  valid_from,
  valid_until,
  confidence,
  name,
  indicator_types,
  labels,
}: JsonObject): IndicatorOptions | string {
  const from = moment(valid_from);
  const until = moment(valid_until);
  if (Number.isNaN(from)) return 'has a valid_from that is not a time';
  if (Number.isNaN(until)) return 'has a valid_until that is not a time';
  const isShare = typeof confidence === 'number' && confidence >= 0 && confidence <= 100;
  const kinds = [indicator_types, labels].find((list) => Array.isArray(list) && list.length > 0);
  const label = textOf(name) || (Array.isArray(kinds) ? kinds.slice(0, 10).map(textOf).join(', ') : '');
  return {
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
    ...(isShare ? { confidence: Math.round(confidence) } : {}),
    ...(label === '' ? {} : { label: shown(label) }),
  };
}

/** Parses a time. Returns undefined without a value, NaN for an invalid value. */
function moment(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  return (typeof value === 'string' && value.includes('T') ? parseTime(value) : undefined) ?? Number.NaN;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
