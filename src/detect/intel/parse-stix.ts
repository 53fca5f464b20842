import { parseTime } from '../../contract/formats.ts';
import { type Collected, shown } from './collected.ts';
import type { IndicatorTerms } from './indicator.ts';
import { parsePattern } from './stix-pattern.ts';

/**
 * The indicators among the objects of a STIX 2 bundle (or of an envelope of TAXII 2.1, which has `objects` too). Other
 * objects, and indicators that were revoked, say nothing here.
 *
 * @returns why it is no bundle; undefined where it is one
 */
export function parseStix(bundle: unknown, into: Collected): string | undefined {
  const objects = isObject(bundle) ? bundle.objects : undefined;
  if (!Array.isArray(objects)) return 'is no STIX bundle: it has no objects';
  for (const [object, one] of objects.entries()) {
    if (into.isFull) break;
    if (!isObject(one) || one.type !== 'indicator' || one.revoked === true) continue;
    parseIndicator(one, { object }, into);
  }
  return undefined;
}

function parseIndicator(one: Fields, place: { readonly object: number }, into: Collected): void {
  const { pattern, pattern_type = 'stix' } = one;
  const value = typeof pattern === 'string' ? pattern : textOf(one.name) || textOf(one.id);
  if (pattern_type !== 'stix')
    return into.reject(
      value,
      `has a pattern of ${shown(textOf(pattern_type)) || 'no known kind'}, wanted stix`,
      place,
    );
  if (typeof pattern !== 'string') return into.reject(value, 'has no pattern', place);
  const terms = termsOf(one);
  if (typeof terms === 'string') return into.reject(value, terms, place);
  const comparisons = parsePattern(pattern);
  if ('reason' in comparisons) return into.reject(value, comparisons.reason, place);
  for (const comparison of comparisons) {
    if ('unsupported' in comparison) into.reject(value, comparison.unsupported, place);
    else into.add(comparison.value, terms, place);
  }
}

/** STIX 2.1, section 4.7. A text: why they cannot be used. */
function termsOf({
  valid_from,
  valid_until,
  confidence,
  name,
  indicator_types,
  labels,
}: Fields): IndicatorTerms | string {
  const from = moment(valid_from);
  const until = moment(valid_until);
  if (Number.isNaN(from)) return 'has a valid_from that is no time';
  if (Number.isNaN(until)) return 'has a valid_until that is no time';
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

/** Undefined where there is none, NaN for what is none. */
function moment(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  return (typeof value === 'string' && value.includes('T') ? parseTime(value) : undefined) ?? Number.NaN;
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
