import { parameterOf } from '../../contract/filter-term.ts';
import type { ResourceType } from '../../contract/resource-types.ts';
import { type Severity, severities } from '../../contract/vocabulary.ts';
import { oneOfTexts } from '../../contract/wildcards.ts';
import { invalidField } from '../../errors.ts';
import type { FilterTerm } from '../../events/query/filter.ts';
import { addressBytes, addressRanges, compareAddress, printAddress, rangesMeet } from '../../net/ip.ts';
import type { ListFilter } from '../../store/store.ts';

export type Predicate<T> = (item: T) => boolean;

type Values = FilterTerm['values'];
/**
 * A function that compiles a term for its values. Throws INVALID_REQUEST for a value that the field cannot
 * have.
 */
export interface TermCompiler<T> {
  (field: string, values: Values): Predicate<T>;
  /** Compiles the bounds of a number; absent for other fields. Items without the field do not match. */
  readonly bounded?: (min: number, max: number) => Predicate<T>;
}
type Read<T, V> = (item: T) => V | undefined;

/** The filters of a resource. */
export interface FilterSpec<T> {
  readonly type: ResourceType;
  /** Compilers of terms, by parameter name. */
  readonly terms: Readonly<Record<string, TermCompiler<T>>>;
  /**
   * Returns the time that `from` and `to` bound: ISO 8601, or epoch milliseconds. Items without a time match
   * no range.
   */
  readonly time: Read<T, string | number>;
  /** Returns the texts that `q` searches. */
  readonly names: (item: T) => readonly (string | undefined)[];
  /** Returns the severity that `min_severity` bounds; absent if the resource has no severity. */
  readonly severity?: Read<T, Severity>;
}

/**
 * Compiles a filter for lists, replays and live subscriptions.
 *
 * @throws INVALID_REQUEST that names an unknown field, or a field that cannot have one of its values
 */
export function compileFilter<T>(spec: FilterSpec<T>, filter: ListFilter): Predicate<T> {
  const { from, to, q, min_severity } = filter;
  const parts: Predicate<T>[] = [];
  if (from !== undefined) parts.push((item) => (epochMs(spec.time(item)) ?? Number.NaN) >= from);
  if (to !== undefined) parts.push((item) => (epochMs(spec.time(item)) ?? Number.NaN) < to);
  if (min_severity !== undefined) parts.push(atLeast(spec, min_severity));
  const bounds = new Map<string, FilterTerm[]>();
  for (const term of filter.terms) {
    if (term.bound !== undefined) {
      bounds.set(term.field, [...(bounds.get(term.field) ?? []), term]);
      continue;
    }
    const matches = compileTerm(spec, term);
    parts.push(term.negated === true ? (item) => !matches(item) : matches);
  }
  for (const terms of bounds.values()) parts.push(compileBounds(spec, terms));
  if (q !== undefined && q !== '') parts.push(containing(spec, q));
  return (item) => parts.every((part) => part(item));
}

/** Returns whether the filter has no conditions except bounds of the time. */
export function boundsOnlyTime({ q, min_severity, terms }: ListFilter): boolean {
  return min_severity === undefined && terms.length === 0 && (q === undefined || q === '');
}

/** Returns a term that matches texts equal to one of the values, which may contain wildcards. */
export const text =
  <T>(read: Read<T, string>): TermCompiler<T> =>
  (_field, values) => {
    const isWanted = oneOfTexts(values.map(String));
    return (item) => {
      const value = read(item);
      return value !== undefined && isWanted(value);
    };
  };

/** Returns a term whose values are converted to lower case, for fields that are read in lower case. */
export const anyCase =
  <T>(term: TermCompiler<T>): TermCompiler<T> =>
  (field, values) =>
    term(
      field,
      values.map((value) => String(value).toLowerCase()),
    );

export const oneOf =
  <T>(allowed: readonly string[], read: Read<T, string>): TermCompiler<T> =>
  (field, values) =>
    text(read)(field, among(allowed, field, values));

/** Returns a term that matches items if one of the numbers equals one of the values, or lies within both bounds. */
export function number<T>(...reads: Read<T, number>[]): TermCompiler<T> {
  const some =
    (test: (value: number) => boolean): Predicate<T> =>
    (item) =>
      reads.some((read) => {
        const value = read(item);
        return value !== undefined && test(value);
      });
  const equal = (field: string, values: Values) => {
    const wanted = new Set(values.map((value) => numberOf(field, value)));
    return some((value) => wanted.has(value));
  };
  return Object.assign(equal, {
    bounded: (min: number, max: number) => some((value) => value >= min && value <= max),
  });
}

/** Returns a term that matches times at or after one of the values. */
export const since =
  <T>(read: Read<T, number>): TermCompiler<T> =>
  (field, values) => {
    const from = Math.min(...values.map((value) => numberOf(field, value)));
    return (item) => (read(item) ?? Number.NaN) >= from;
  };

/** Returns a term that matches lists that contain one of the values. */
export const members =
  <T>(read: Read<T, readonly string[]>): TermCompiler<T> =>
  (_field, values) => {
    const isWanted = oneOfTexts(values.map(String));
    return (item) => read(item)?.some(isWanted) ?? false;
  };

/** Returns a term like that of `members`, for lists whose items come from a fixed set of values. */
export const someOf =
  <T>(allowed: readonly string[], read: Read<T, readonly string[]>): TermCompiler<T> =>
  (field, values) =>
    members(read)(field, among(allowed, field, values));

/**
 * Returns a term that matches an address, or a list with an address, that equals one of the values or lies in
 * one of the CIDR blocks.
 */
export const address =
  <T>(...reads: Read<T, string | readonly string[]>[]): TermCompiler<T> =>
  (field, values) => {
    const tests = values.map((value) => addressTest(field, String(value)));
    const within = (value: string) => tests.some((test) => test(value));
    return (item) =>
      reads.some((read) => {
        const value = read(item);
        if (value === undefined) return false;
        return typeof value === 'string' ? within(value) : value.some(within);
      });
  };

/** Returns a term that matches times (ISO 8601) equal to one of the values, in epoch milliseconds. */
export const time = <T>(read: Read<T, string>): TermCompiler<T> => number((item) => epochMs(read(item)));

function among(allowed: readonly string[], field: string, values: Values): Values {
  for (const value of values)
    if (!allowed.includes(String(value))) throw invalidField(field, `must be one of ${allowed.join(', ')}`);
  return values;
}

function numberOf(field: string, value: Values[number]): number {
  if (typeof value === 'boolean' || value === '' || !Number.isFinite(Number(value)))
    throw invalidField(field, 'must be a number');
  return Number(value);
}

/**
 * Returns a function that tests whether an address matches. Resources have canonical addresses, so a single
 * address is compared as text.
 */
function addressTest(field: string, wanted: string): (value: string) => boolean {
  const ranges = addressRanges(wanted);
  if (ranges === undefined) throw invalidField(field, 'must be an IP address or a CIDR block');
  const [only] = ranges;
  if (only !== undefined && ranges.length === 1 && compareAddress(only.first, 0, only.last, 0) === 0) {
    const canonical = printAddress(only.first);
    return (value) => value === canonical;
  }
  return (value) => {
    const bytes = addressBytes(value);
    if (bytes === undefined) return false;
    const single = { first: bytes, last: bytes };
    return ranges.some((range) => rangesMeet(range, single));
  };
}

function epochMs(value: string | number | undefined): number | undefined {
  return typeof value === 'string' ? Date.parse(value) : value;
}

function atLeast<T>({ type, severity }: FilterSpec<T>, least: Severity): Predicate<T> {
  if (severity === undefined) throw invalidField('min_severity', `is not a filter of ${type} lists`);
  const wanted = severities.indexOf(least);
  if (wanted < 0) throw invalidField('min_severity', `must be one of ${severities.join(', ')}`);
  return (item) => {
    const value = severity(item);
    return value !== undefined && severities.indexOf(value) >= wanted;
  };
}

function compileTerm<T>({ type, terms }: FilterSpec<T>, { field, values }: FilterTerm): Predicate<T> {
  const term = Object.hasOwn(terms, field) ? terms[field] : undefined;
  if (term === undefined) throw invalidField(field, `is not a filter of ${type} lists`);
  return term(field, values);
}

/** Compiles the bounds of one field together: if an item has several numbers, one of them must lie within both. */
function compileBounds<T>({ type, terms }: FilterSpec<T>, bounds: readonly FilterTerm[]): Predicate<T> {
  let min = Number.NEGATIVE_INFINITY;
  let max = Number.POSITIVE_INFINITY;
  for (const term of bounds) {
    const parameter = parameterOf(term);
    if (!Object.hasOwn(terms, term.field) || terms[term.field]!.bounded === undefined)
      throw invalidField(parameter, `is not a filter of ${type} lists`);
    const [value, ...others] = term.values;
    if (value === undefined || others.length > 0) throw invalidField(parameter, 'must have one value');
    if (term.bound === 'min') min = Math.max(min, numberOf(parameter, value));
    else max = Math.min(max, numberOf(parameter, value));
  }
  return terms[bounds[0]!.field]!.bounded!(min, max);
}

/** Returns a predicate that matches items with `q` as a case-insensitive substring of one of their names. */
function containing<T>({ names }: FilterSpec<T>, q: string): Predicate<T> {
  const wanted = q.toLowerCase();
  return (item) => names(item).some((name) => name?.toLowerCase().includes(wanted) ?? false);
}
