import {
  type CorrelationDocument,
  type CorrelationType,
  correlationTypes,
  type Problem,
  type Threshold,
} from '../document.ts';
import { shown } from '../fault.ts';
import { fieldName, type Path } from '../problem.ts';
import { isObject } from '../record.ts';
import { type CorrelationLimits, correlationLimits } from './correlation-limits.ts';
import { parseRuleCondition } from './rule-condition.ts';
import { canBeMet, isComparison, isLowerBound, type Range } from './threshold.ts';

/** The attributes that only correlation documents have. */
export type CorrelationSection = Pick<
  CorrelationDocument,
  | 'type'
  | 'rules'
  | 'groupBy'
  | 'timespanMs'
  | 'threshold'
  | 'valueFields'
  | 'percentile'
  | 'condition'
  | 'aliases'
  | 'generate'
>;

/** Range of the compared number by type, and whether the type counts the values of a field. */
const compared = {
  event_count: { field: false, whole: true, least: 1, most: Infinity },
  value_count: { field: true, whole: true, least: 1, most: Infinity },
  temporal: { field: false, whole: true, least: 1, most: Infinity },
  temporal_ordered: { field: false, whole: true, least: 1, most: Infinity },
  value_sum: { field: true, whole: false, least: -Infinity, most: Infinity },
  value_avg: { field: true, whole: false, least: -Infinity, most: Infinity },
  value_percentile: { field: true, whole: false, least: -Infinity, most: Infinity },
} as const satisfies Record<CorrelationType, Range & { field: boolean }>;

const keys = new Set(['type', 'rules', 'group-by', 'timespan', 'condition', 'aliases', 'generate']);
const noThreshold = { threshold: undefined, valueFields: [], percentile: undefined, condition: undefined };
type Condition = Pick<CorrelationSection, keyof typeof noThreshold>;

/**
 * Parses the attribute `correlation` of a document (Sigma correlation rules 2.1.0).
 *
 * The parser is stricter than the JSON schema, which accepts documents without a clear meaning. It rejects unknown
 * attributes, units of time other than s, m, h and d, and bounds that contradict each other or are unreachable. Absent
 * events are not counted, so a count is never 0. `group-by: []` is allowed and makes a single group.
 *
 * @param section - as parsed from YAML
 * @param at - returns the line of a path within the section
 * @param generate - the document's attribute `generate`, as defined by the schema; it is also accepted within
 *   the section, where pySigma reads it
 */
export function parseCorrelation(
  section: unknown,
  at: (path: Path) => number,
  generate?: boolean,
  limits: CorrelationLimits = correlationLimits,
): CorrelationSection | readonly Problem[] {
  const problems: Problem[] = [];
  const refuse = (path: Path, reason: string): undefined => {
    problems.push({ line: at(path), field: fieldName(['correlation', ...path]), reason });
  };
  if (!isObject(section)) {
    refuse([], 'must be a map');
    return problems;
  }

  for (const key of Object.keys(section)) {
    if (!keys.has(key)) refuse([key], 'is not an attribute of a correlation');
  }
  const type = readType(section.type, refuse);
  const rules = readRules(section.rules, refuse, limits) ?? [];
  const groupBy = readGroupBy(section['group-by'], refuse, limits) ?? [];
  const timespanMs = readTimespan(section.timespan, refuse, limits) ?? 0;
  const aliases = readAliases(section.aliases, refuse, limits);
  const generates = readGenerate(section.generate ?? generate, refuse);
  if (type === undefined) return problems;

  const condition = readCondition(type, section.condition, refuse, limits, rules);
  if (problems.length > 0) return problems;
  return { type, rules, groupBy, timespanMs, ...condition, aliases, generate: generates };
}

type Refuse = (path: Path, reason: string) => undefined;

function readType(type: unknown, refuse: Refuse): CorrelationType | undefined {
  return (
    correlationTypes.find((known) => known === type) ??
    refuse(['type'], `must be one of ${correlationTypes.join(', ')}`)
  );
}

function readRules(rules: unknown, refuse: Refuse, limits: CorrelationLimits): string[] | undefined {
  if (!Array.isArray(rules) || rules.length === 0) return refuse(['rules'], 'must be a list of ids or names');
  if (rules.length > limits.rules)
    return refuse(['rules'], `names ${rules.length} rules; the maximum is ${limits.rules}`);
  return readNames(['rules'], rules, 2, refuse);
}

function readGroupBy(groupBy: unknown, refuse: Refuse, limits: CorrelationLimits): string[] | undefined {
  if (!Array.isArray(groupBy))
    return refuse(['group-by'], 'must be a list of fields; use an empty list for a single group');
  if (groupBy.length > limits.fields) {
    return refuse(['group-by'], `names ${groupBy.length} fields; the maximum is ${limits.fields}`);
  }
  return readNames(['group-by'], groupBy, 1, refuse);
}

/** Reads distinct texts of up to 256 characters. */
function readNames(path: Path, items: readonly unknown[], least: number, refuse: Refuse): string[] {
  const names = new Set<string>();
  for (const [i, item] of items.entries()) {
    if (typeof item !== 'string' || item.length < least || item.length > 256) {
      refuse([...path, i], `must be a text of ${least} to 256 characters`);
    } else if (names.has(item)) refuse([...path, i], `repeats ${shown(item)}`);
    else names.add(item);
  }
  return [...names];
}

function readTimespan(timespan: unknown, refuse: Refuse, limits: CorrelationLimits): number | undefined {
  const ms = typeof timespan === 'string' ? parseTimespan(timespan) : undefined;
  if (ms === undefined || ms === 0) {
    return refuse(['timespan'], 'must be a number above 0 and one of s, m, h, d: 30s, 90m, 24h, 7d');
  }
  if (ms > limits.timespanMs) {
    return refuse(['timespan'], `is longer than ${limits.timespanMs / 86_400_000} days`);
  }
  return ms;
}

function readAliases(
  aliases: unknown,
  refuse: Refuse,
  limits: CorrelationLimits,
): Map<string, ReadonlyMap<string, string>> {
  const read = new Map<string, ReadonlyMap<string, string>>();
  if (aliases === undefined) return read;
  if (!isObject(aliases)) {
    refuse(['aliases'], 'must be a map of names to maps of rules to fields');
    return read;
  }
  const most = 2 * limits.fields;
  if (Object.keys(aliases).length > most) refuse(['aliases'], `has more than ${most} names`);
  for (const [alias, fields] of Object.entries(aliases).slice(0, most)) {
    if (!isObject(fields)) {
      refuse(['aliases', alias], 'must be a map of rules to fields');
      continue;
    }
    const wrong = Object.entries(fields).find(([, field]) => !isField(field));
    if (wrong !== undefined) refuse(['aliases', alias, wrong[0]], 'must name a field');
    read.set(alias, new Map(Object.entries(fields) as [string, string][]));
  }
  return read;
}

function readGenerate(generate: unknown, refuse: Refuse): boolean {
  if (generate !== undefined && typeof generate !== 'boolean') refuse(['generate'], 'must be true or false');
  return generate === true;
}

function readCondition(
  type: CorrelationType,
  condition: unknown,
  refuse: Refuse,
  limits: CorrelationLimits,
  rules: readonly string[],
): Condition {
  const temporal = type === 'temporal' || type === 'temporal_ordered';
  if (condition === undefined && temporal) return noThreshold;
  if (typeof condition === 'string' && temporal) {
    const parsed = parseRuleCondition(condition, rules);
    if (typeof parsed === 'string') refuse(['condition'], parsed);
    return { ...noThreshold, condition };
  }
  if (isObject(condition)) return readThreshold(type, condition, refuse, limits, rules.length);
  refuse(
    ['condition'],
    temporal
      ? 'must be a map of bounds, or an expression over the names of rules'
      : 'must be a map of bounds: gt, gte, lt, lte, eq, neq',
  );
  return noThreshold;
}

function readThreshold(
  type: CorrelationType,
  condition: Readonly<Record<string, unknown>>,
  refuse: Refuse,
  limits: CorrelationLimits,
  rules: number,
): Condition {
  const { field: counts, ...range } = compared[type];
  const bounds: [string, number][] = [];
  for (const [key, bound] of Object.entries(condition)) {
    const path = ['condition', key];
    if (key === 'field' || key === 'percentile') continue;
    if (!isComparison(key)) refuse(path, 'is not a bound: gt, gte, lt, lte, eq, neq');
    else if (typeof bound !== 'number' || !(range.whole ? Number.isSafeInteger(bound) : Number.isFinite(bound))) {
      refuse(path, range.whole ? 'must be a whole number' : 'must be a number');
    } else if (type === 'value_count' && bound > limits.distinct) {
      refuse(path, `is more than the maximum of ${limits.distinct} distinct values`);
    } else bounds.push([key, bound]);
  }
  const threshold: Threshold = Object.fromEntries(bounds);
  const valueFields = counts ? readFields(condition.field, refuse, limits) : [];
  const percentile = readPercentile(type, condition.percentile, refuse);
  if (!counts && condition.field !== undefined) {
    refuse(['condition', 'field'], `is only for types that use values; ${type} does not use values`);
  }
  const reachable = { ...range, ...reachOf(type, percentile, rules) };
  if (Object.keys(condition).every((key) => key === 'field' || key === 'percentile')) {
    refuse(['condition'], 'has no bound: gt, gte, lt, lte, eq, neq');
  } else if (bounds.length > 0 && !canBeMet(threshold, reachable)) {
    refuse(['condition'], neverMet(reachable));
  } else if (type === 'temporal_ordered' && !isLowerBound(threshold) && threshold.eq !== rules) {
    refuse(['condition'], 'must be a minimum number of rules (gt, gte) for temporal_ordered');
  }
  return { threshold, valueFields, percentile, condition: undefined };
}

function neverMet({ whole, least, most }: Range): string {
  if (most === Infinity) return `can never be met${whole ? `, because absent events are not counted` : ''}`;
  return `can never be met by a number from ${least} to ${most}`;
}

/** Returns the limits of the compared number that replace the limits of its type. */
function reachOf(type: CorrelationType, percentile: number | undefined, rules: number): Partial<Range> {
  if (type === 'temporal' || type === 'temporal_ordered') return { most: Math.max(1, rules) };
  if (type === 'value_percentile' && percentile === undefined) return { least: 0, most: 100 };
  return {};
}

function readFields(field: unknown, refuse: Refuse, limits: CorrelationLimits): string[] {
  if (isField(field)) return [field];
  const path = ['condition', 'field'];
  if (Array.isArray(field) && field.length > 0 && field.length <= limits.fields) {
    return readNames(path, field, 1, refuse);
  }
  refuse(path, `must be the field whose values are counted, or a list of 1 to ${limits.fields} fields`);
  return [];
}

function readPercentile(type: CorrelationType, percentile: unknown, refuse: Refuse): number | undefined {
  if (percentile === undefined) return;
  const path = ['condition', 'percentile'];
  if (type !== 'value_percentile') return refuse(path, 'is only for value_percentile');
  if (typeof percentile !== 'number' || !(percentile >= 0 && percentile <= 100)) {
    return refuse(path, 'must be a number from 0 to 100');
  }
  return percentile;
}

function isField(field: unknown): field is string {
  return typeof field === 'string' && field.length > 0 && field.length <= 256;
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Returns the milliseconds of a Sigma timespan (`30s`, `90m`, `24h`, `7d`); undefined for other texts. */
function parseTimespan(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return;
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}
