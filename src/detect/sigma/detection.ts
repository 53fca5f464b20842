import { limits } from '../../limits.ts';
import { type Check, typeName } from './check.ts';
import { aggregationAdvice, parseCondition, searchesOf } from './condition.ts';
import type { Scalar, Search, SearchItem } from './document.ts';
import { shown } from './fault.ts';
import { checkItem } from './item.ts';
import type { Path } from './problem.ts';
import { isObject, type JsonObject } from './record.ts';

/** The searches of a section, and the conditions that combine them. */
export interface Detection {
  readonly searches: ReadonlyMap<string, Search>;
  readonly conditions: readonly string[];
}

/**
 * Reads the section `detection` of a rule, or `filter` of a filter: search identifiers and `condition`.
 * Everything is checked, including modifiers with their values, except values that come from placeholders of
 * `expand`.
 *
 * @param others - attributes of the section besides `condition` that are not search identifiers
 */
export function readDetection(
  section: JsonObject,
  path: Path,
  others: readonly string[],
  check: Check,
): Detection | undefined {
  const before = check.problems.length;
  const searches = new Map<string, Search>();
  const names: string[] = [];
  for (const name of Object.keys(section)) {
    if (name === 'condition' || others.includes(name)) continue;
    const at = [...path, name];
    if (name === 'timeframe') {
      check.problem(at, aggregationAdvice);
      continue;
    }
    names.push(name);
    if (!/^[^\s()|*]{1,256}$/.test(name))
      check.problem(at, 'is a search identifier with spaces, parentheses, | or *, or longer than 256 characters');
    const search = readSearch(section[name], at, check);
    if (search !== undefined) searches.set(name, search);
  }
  if (names.length === 0) check.problem(path, 'has no search identifier');
  const conditions = readConditions(section.condition, [...path, 'condition'], names, path, check);
  return check.problems.length > before ? undefined : { searches, conditions };
}

function readConditions(
  value: unknown,
  path: Path,
  names: readonly string[],
  section: Path,
  check: Check,
): readonly string[] {
  if (value === undefined || value === null) {
    check.problem(path, 'is missing');
    return [];
  }
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (given.length === 0) check.problem(path, 'is an empty list');
  const used = new Set<string>();
  let sound = given.length > 0;
  const conditions: string[] = [];
  given.forEach((one, index) => {
    const at = Array.isArray(value) ? [...path, index] : path;
    const text = check.required(check.text(one, at, limits.maxSigmaTextLength), one, at);
    const condition = text === undefined ? undefined : parseCondition(text, names);
    if (text !== undefined && condition !== undefined && 'kind' in condition) {
      for (const name of searchesOf(condition)) used.add(name);
      conditions.push(text);
      return;
    }
    sound = false;
    if (condition !== undefined && 'reason' in condition)
      check.problem(at, `${condition.reason} (at character ${condition.at})`);
  });
  if (sound) {
    for (const name of names)
      if (!used.has(name)) check.problem([...section, name], 'is a search that no condition names');
  }
  return conditions;
}

/**
 * Reads a mapping of fields, all of which must match, or a list of mappings and keywords, any of which is
 * sufficient. Keywords are searched in the whole record.
 */
function readSearch(value: unknown, path: Path, check: Check): Search | undefined {
  if (isObject(value)) {
    const items = readItems(value, path, check);
    return { alternatives: [items] };
  }
  if (!Array.isArray(value)) return check.problem(path, `is ${typeName(value)}, not a mapping of fields or a list`);
  if (value.length === 0) return check.problem(path, 'is an empty list');
  const alternatives: (readonly SearchItem[])[] = [];
  const keywords: Scalar[] = [];
  value.forEach((entry: unknown, index) => {
    const at = [...path, index];
    if (isObject(entry)) alternatives.push(readItems(entry, at, check));
    else if (entry === null || entry === undefined) check.problem(at, 'is empty');
    else if (isScalar(entry)) keywords.push(entry);
    else check.problem(at, `is ${typeName(entry)}, neither a keyword nor a mapping of fields`);
  });
  if (keywords.length > 0) {
    const item = { field: undefined, modifiers: [], values: keywords, line: check.at(path) };
    checkOne(item, path, check);
    alternatives.unshift([item]);
  }
  return { alternatives };
}

function readItems(mapping: JsonObject, path: Path, check: Check): SearchItem[] {
  const keys = Object.keys(mapping);
  if (keys.length === 0) check.problem(path, 'is an empty mapping');
  return keys.flatMap((key) => {
    const at = [...path, key];
    const [field = '', ...modifiers] = key.split('|');
    const values = readValues(mapping[key], at, check);
    if (values === undefined) return [];
    const item = { field: field === '' ? undefined : field, modifiers, values, line: check.at(at) };
    checkOne(item, at, check);
    return [item];
  });
}

function readValues(value: unknown, path: Path, check: Check): readonly Scalar[] | undefined {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (given.length === 0) return check.problem(path, 'is an empty list');
  const values = given.filter(isScalar);
  const wrong = given.findIndex((one) => !isScalar(one));
  if (wrong < 0) return values;
  const at = Array.isArray(value) ? [...path, wrong] : path;
  return check.problem(at, `is ${typeName(given[wrong])}, not a text, number, true, false or null`);
}

function checkOne(item: SearchItem, path: Path, check: Check): void {
  const long = item.values.find((value) => typeof value === 'string' && value.length > limits.maxSigmaValueLength);
  if (long !== undefined)
    return check.problem(path, `has a value longer than ${limits.maxSigmaValueLength} characters: ${shown(long)}`);
  const reason = checkItem(item, check.expansion);
  if (reason !== undefined) check.problem(path, reason);
}

/**
 * Returns false for lists, for mappings, and for undefined. The YAML reader returns undefined for a refused value, and
 * has already recorded the problem.
 */
function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
