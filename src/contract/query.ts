import type { Static, TObject, TSchema } from 'typebox';
import { invalidField, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type ParsedTerm, termOf } from './filter-term.ts';
import { canonicalMac, type Format, formats, parseTime } from './formats.ts';
import { searchText } from './search-text.ts';
import type { Severity } from './vocabulary.ts';

/** Decoded parameters of a query string: values by name, in order. */
export type RawQuery = ReadonlyMap<string, readonly string[]>;

type Value = string | number | boolean;

/** The subset of JSON Schema that parameters use. */
interface ParameterSchema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array';
  readonly enum?: readonly string[];
  readonly format?: Format;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: ParameterSchema;
}

const parametersOf = (schema: TObject) => schema.properties as Record<string, TSchema & ParameterSchema>;

/**
 * Decodes the part of a URL after `?`. The number of parameters is bounded by `limits.maxHeaderBytes`.
 *
 * @throws INVALID_REQUEST naming the parameter whose value is not percent-encoded UTF-8, or `query` if the name of a
 * parameter is not
 */
export function decodeQuery(search: string): Map<string, string[]> {
  const raw = new Map<string, string[]>();
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), 'query');
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1), name);
    const values = raw.get(name);
    if (values === undefined) raw.set(name, [value]);
    else values.push(value);
  }
  return raw;
}

function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidField(shorten(name), 'is not percent-encoded UTF-8');
  }
}

/**
 * Parses query parameters with their schema: numbers and booleans are converted, times become epoch
 * milliseconds, UUIDs and hashes lower case, MAC addresses lower case with colons. An array in the schema is
 * a parameter that may be repeated.
 *
 * @throws INVALID_REQUEST naming the parameter: unknown, repeated, empty, malformed, out of range, missing.
 */
export function parseQuery<S extends TObject>(schema: S, raw: RawQuery): Static<S> {
  const known = parametersOf(schema);
  const parsed: Record<string, Value | Value[]> = {};
  for (const [name, values] of raw) {
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined;
    if (parameter === undefined) throw unknownParameter(name, Object.keys(known));
    parsed[name] = parseParameter(name, parameter, values);
  }
  for (const name of (schema.required as readonly string[] | undefined) ?? [])
    if (!Object.hasOwn(parsed, name)) throw invalidField(name, 'is required');
  if (typeof parsed.q === 'string')
    parsed.q = searchText(
      parsed.q,
      Object.keys(known).filter((name) => name === 'min_severity' || known[name]!.items !== undefined),
    );
  const { from, to } = parsed;
  // Other ranges are validated by the handlers, which know their bounds.
  if (known.from?.format === 'time' && typeof from === 'number' && typeof to === 'number' && from >= to)
    throw invalidField('from', 'must be before to');
  for (const [name, least] of Object.entries(parsed)) {
    const largest = name.startsWith('min_') ? parsed[name.replace('min_', 'max_')] : undefined;
    if (typeof least === 'number' && typeof largest === 'number' && least > largest)
      throw invalidField(name, `must be at most ${name.replace('min_', 'max_')}`);
  }
  return parsed as Static<S>;
}

/** Returns INVALID_REQUEST for a parameter that is not in `known`, with a suggestion if one is similar. */
export const unknownParameter = (name: string, known: readonly string[]): ServiceError =>
  invalidField(shorten(name), `is not a known parameter${nearestAdvice(name, known)}`);

/** Returns a suggestion of the known name that was probably meant, or an empty text. */
export function nearestAdvice(name: string, known: readonly string[]): string {
  const nearest = name.length > 64 ? undefined : nearestOf(name, known);
  return nearest === undefined ? '' : `; did you mean \`${nearest}\`?`;
}

/**
 * Returns the known name that was probably meant: the name that corresponds to a name of another interface (`synonyms`,
 * `usualWords`), otherwise the most similar spelling, otherwise a name with the same beginning or with a word of the
 * given name. Returns undefined without such a name.
 */
function nearestOf(name: string, known: readonly string[]): string | undefined {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_.-]/);
  const usual = words.map((word) => usualWords.get(word) ?? word).join('_');
  const given = synonyms.get(words.join('_'))?.split(' ') ?? [];
  const same = [usual, ...given].find((one) => known.includes(one));
  if (same !== undefined) return same;
  const most = Math.min(3, name.length / 3);
  const [near] = known
    .filter((one) => Math.abs(one.length - name.length) <= most)
    .map((one) => [one, distance(name.toLowerCase(), one)] as const)
    .filter(([, far]) => far <= most)
    .sort((a, b) => a[1] - b[1]);
  if (near !== undefined) return near[0];
  return (
    known.find((one) => usual.length > 2 && one.startsWith(usual)) ??
    known.find((one) => one.length > 2 && words.includes(one))
  );
}

/** Words in the parameter names of other interfaces, and the words used here instead. */
const usualWords: ReadonlyMap<string, string> = new Map([
  ['source', 'src'],
  ['destination', 'dst'],
  ['dest', 'dst'],
  ['address', 'ip'],
  ['addr', 'ip'],
  ['protocol', 'transport'],
]);

/** Parameter names of other interfaces, and the names used here instead, separated by spaces. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['limit', 'per_page'],
  ['size', 'per_page'],
  ['page_size', 'per_page'],
  ['pagesize', 'per_page'],
  ['offset', 'page'],
  ['start', 'from since'],
  ['start_time', 'from since'],
  ['after', 'from since'],
  ['end', 'to'],
  ['end_time', 'to'],
  ['before', 'to'],
  ['until', 'to'],
  ['order', 'sort'],
  ['order_by', 'sort'],
  ['sort_by', 'sort'],
  ['search', 'q'],
  ['level', 'severity min_severity'],
  ['host', 'hostname'],
  ['comment', 'note'],
]);

/** Returns the Levenshtein distance: the minimum number of characters to insert, delete or replace. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++)
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)));
    row = next;
  }
  return row.at(-1)!;
}

/** Parses path parameters with their schema. UUIDs become lower case. */
export function parseParams<S extends TObject>(schema: S, raw: ReadonlyMap<string, string>): Static<S> {
  const parsed: Record<string, Value> = {};
  for (const [name, parameter] of Object.entries(parametersOf(schema)))
    parsed[name] = parseValue(name, parameter, raw.get(name) ?? '');
  return parsed as Static<S>;
}

function parseParameter(name: string, schema: ParameterSchema, values: readonly string[]): Value | Value[] {
  if (schema.items !== undefined) {
    const { items, maxItems = limits.maxFilterValues } = schema;
    if (values.length > maxItems) throw invalidField(name, `may be given at most ${maxItems} times`);
    return values.map((value) => parseValue(name, items, value));
  }
  if (values.length !== 1) throw invalidField(name, 'may be given once');
  return parseValue(name, schema, values[0]!);
}

function parseValue(name: string, schema: ParameterSchema, text: string): Value {
  if (text === '' && schema.type !== 'integer' && schema.minLength !== 0)
    throw invalidField(name, schema.format === 'uuid' ? formats.uuid.reason : 'must not be empty');
  switch (schema.type) {
    case 'string':
      return parseText(name, schema, text);
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw invalidField(name, 'must be true or false');
      return text === 'true';
    case 'integer': {
      if (!/^(0|-?[1-9][0-9]*)$/.test(text))
        throw invalidField(name, `must be an integer${range(schema)}, in digits without leading zeros`);
      const number = Number(text);
      if (!Number.isSafeInteger(number)) throw invalidField(name, `must be an integer${range(schema)}`);
      return inRange(name, schema, number);
    }
    case 'number': {
      const number = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]{1,3})?$/i.test(text) ? Number(text) : Number.NaN;
      if (!Number.isFinite(number)) throw invalidField(name, `must be a number${range(schema)}`);
      return inRange(name, schema, number);
    }
    case 'array':
      throw new Error(`parameter ${name}: an array within an array has no text form`);
  }
}

function parseText(name: string, schema: ParameterSchema, text: string): Value {
  const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (schema.enum !== undefined && !schema.enum.includes(text))
    throw invalidField(name, `must be one of ${schema.enum.join(', ')}`);
  if (text.length < minLength) throw invalidField(name, `must have at least ${minLength} characters`);
  if (text.length > maxLength) throw invalidField(name, `must have at most ${maxLength} characters`);
  if (format === undefined) return text;
  if (!formats[format].test(text)) throw invalidField(name, formats[format].reason);
  if (format === 'time') return parseTime(text)!;
  if (format === 'mac') return canonicalMac(text)!;
  return format === 'uuid' || format === 'hex32' ? text.toLowerCase() : text;
}

function inRange(name: string, schema: ParameterSchema, number: number): number {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (number < minimum || number > maximum) {
    const kind = schema.type === 'integer' ? 'an integer' : 'a number';
    throw invalidField(name, `must be ${kind}${range(schema)}`);
  }
  return number;
}

function range({ minimum, maximum }: ParameterSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? '' : ` of at most ${maximum}`;
}

/** Truncates a name from a request, so that the response stays small and well-formed. */
export function shorten(name: string): string {
  return (name.length > 100 ? `${name.slice(0, 100)}…` : name).toWellFormed();
}

/**
 * A filter that selects items. An item must match all parts of the filter: at least one value of each term, no value
 * of a negated term, and each bound. Plain data that crosses threads.
 */
export interface ParsedFilter {
  /** Start of the half-open range of the item's time, epoch milliseconds. */
  readonly from?: number;
  /** End of the range, exclusive. */
  readonly to?: number;
  /** Free text. */
  readonly q?: string;
  /** Minimum severity. */
  readonly min_severity?: Severity;
  readonly terms: readonly ParsedTerm[];
}

export interface ParsedList {
  readonly filter: ParsedFilter;
  /** Attribute to sort by, without the prefix `-`. */
  readonly sort: string;
  readonly order: 'asc' | 'desc';
  readonly page: number;
  readonly per_page: number;
  readonly cursor?: string;
}

export interface ParsedStream {
  readonly filter: ParsedFilter;
  /** Commit sequence after which to start. */
  readonly since?: number;
}

/**
 * Parses the parameters of a list with its schema. Every array is a filter term, negated if its name has the prefix
 * `not_`; `min_<field>` and `max_<field>` are bounds.
 */
export function parseList(schema: TObject, raw: RawQuery): ParsedList {
  const values: Readonly<Record<string, unknown>> = parseQuery(schema, raw) as Record<string, unknown>;
  const fallback = (parametersOf(schema).sort as { default?: string } | undefined)?.default ?? '-created_at';
  const sort = typeof values.sort === 'string' ? values.sort : fallback;
  return {
    filter: listFilterOf(values),
    sort: sort.replace('-', ''),
    order: sort.startsWith('-') ? 'desc' : 'asc',
    page: (values.page as number | undefined) ?? 1,
    per_page: (values.per_page as number | undefined) ?? limits.defaultPerPage,
    ...(typeof values.cursor === 'string' ? { cursor: values.cursor } : {}),
  };
}

/** Parses the parameters of a stream with its schema. */
export function parseStream(schema: TObject, raw: RawQuery): ParsedStream {
  const values: Readonly<Record<string, unknown>> = parseQuery(schema, raw) as Record<string, unknown>;
  return {
    filter: listFilterOf(values),
    ...(typeof values.since === 'number' ? { since: values.since } : {}),
  };
}

/** Returns the filter in parsed parameters of a list or stream. */
export function listFilterOf(values: Readonly<Record<string, unknown>>): ParsedFilter {
  const { from, to, q, min_severity } = values;
  return {
    ...(typeof from === 'number' ? { from } : {}),
    ...(typeof to === 'number' ? { to } : {}),
    ...(typeof q === 'string' ? { q } : {}),
    ...(min_severity === undefined ? {} : { min_severity: min_severity as Severity }),
    terms: Object.entries(values)
      .map(([name, value]) => termOf(name, value as Value | Value[]))
      .filter((term) => term !== undefined),
  };
}

/**
 * Parses the JSON filters of a subscription with the schema of the stream: a value or an array of values per
 * name. Errors name `filters.<name>`.
 */
export const parseFilters = (schema: TObject, filters: Readonly<Record<string, unknown>>): ParsedFilter =>
  fromJson('filters', filters, (raw) => {
    if (raw.has('since')) throw invalidField('since', 'is not a known parameter');
    return parseStream(schema, raw).filter;
  });

/** Parses the JSON filters of a list with the schema of its query. Errors name `filter.<name>`. */
export const parseListFilter = (schema: TObject, filter: Readonly<Record<string, unknown>>): ParsedFilter =>
  fromJson('filter', filter, (raw) => listFilterOf(parseQuery(schema, raw) as Record<string, unknown>));

function fromJson<T>(whole: string, filters: Readonly<Record<string, unknown>>, read: (raw: RawQuery) => T): T {
  const raw = new Map<string, string[]>();
  for (const [name, value] of Object.entries(filters)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    const isText = (one: unknown) => ['string', 'number', 'boolean'].includes(typeof one);
    if (values.length === 0 || !values.every(isText))
      throw invalidField(`${whole}.${shorten(name)}`, 'must be a value or an array of values');
    raw.set(name, values.map(String));
  }
  try {
    return read(raw);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.details === undefined) throw error;
    throw invalidField(`${whole}.${String(error.details.field)}`, String(error.details.reason));
  }
}

/**
 * Returns the identifier of a leaf. Exactly one identifier must be given.
 *
 * @throws INVALID_REQUEST naming `leaf_index` if no identifier is given, or the second identifier if several are given
 */
export function onlyLeaf(values: {
  readonly leaf_index?: number;
  readonly leaf_hash?: string;
  readonly entry_id?: string;
}): { leaf_index?: number; leaf_hash?: string; entry_id?: string } {
  const { leaf_index, leaf_hash, entry_id } = values;
  const given = Object.entries({ leaf_index, leaf_hash, entry_id }).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw invalidField('leaf_index', 'is required unless leaf_hash or entry_id is given');
  if (given.length > 1) throw invalidField(given[1]![0], `cannot be combined with ${given[0]![0]}`);
  return Object.fromEntries(given);
}
