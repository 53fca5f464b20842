import type { TObject, TSchema } from 'typebox';
import type { ListId } from '../../client/client.ts';
import { prefixes } from '../../contract/filter-term.ts';
import { routeOf } from '../../contract/routes.ts';
import { literally } from '../../contract/wildcards.ts';
import { place, setParams } from './address.ts';

/** A filter of a list, from the contract. */
export interface FilterField {
  readonly name: string;
  readonly description: string;
  /** The allowed values, if they are a fixed set. */
  readonly values?: readonly string[];
  /** Whether the filter accepts addresses and CIDR blocks. */
  readonly isNetwork: boolean;
  readonly isNumber: boolean;
  readonly isInteger: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  /** The contract's format of the values. */
  readonly format?: string;
  /** Whether the filter accepts several values, which are alternatives. */
  readonly takesMany: boolean;
}

/** How a filter compares: with one of the values, with none of them, or with a least or largest value. */
export type Operator = 'is' | keyof typeof prefixes;

export interface Chip {
  readonly name: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

const prefixOf: Readonly<Record<Operator, string>> = { is: '', ...prefixes };
const operators = Object.keys(prefixOf) as Operator[];
const keyOf = ({ name, operator }: Pick<Chip, 'name' | 'operator'>): string => prefixOf[operator] + name;

/** Parameters of lists that are not filters. */
const noFilters = new Set(['page', 'per_page', 'cursor', 'sort', 'from', 'to', 'q']);

interface ParameterSchema extends TSchema {
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly { readonly const?: string }[];
  readonly items?: ParameterSchema;
  readonly format?: string;
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Returns every filter of a list, in the order of the contract. */
export function filterFields(operation: ListId): FilterField[] {
  return Object.entries(parameters(operation))
    .filter(([key]) => !noFilters.has(key) && operatorOf(key) === 'is')
    .map(([name, schema]) => {
      const one = schema.items ?? schema;
      const values =
        one.type === 'boolean' ? ['true', 'false'] : (one.enum ?? one.anyOf?.flatMap((option) => option.const ?? []));
      return {
        name,
        description: one.description ?? name,
        ...(values !== undefined && values.length > 0 && { values }),
        isNetwork: one.format === 'network',
        isNumber: one.type === 'integer' || one.type === 'number',
        isInteger: one.type === 'integer',
        ...(one.minimum !== undefined && { minimum: one.minimum }),
        ...(one.maximum !== undefined && { maximum: one.maximum }),
        ...(one.format !== undefined && { format: one.format }),
        takesMany: schema.items !== undefined,
      };
    });
}

/** Returns the operators of a filter of the list. */
export const operatorsOf = (operation: ListId, name: string): Operator[] =>
  operators.filter((operator) => Object.hasOwn(parameters(operation), keyOf({ name, operator })));

/** Returns the operator in the name of a parameter. No filter has a name that starts with a prefix. */
const operatorOf = (key: string): Operator =>
  operators.find((operator) => operator !== 'is' && key.startsWith(prefixOf[operator])) ?? 'is';

function parameters(operation: ListId): Record<string, ParameterSchema> {
  return ((routeOf(operation).query as TObject | undefined)?.properties ?? {}) as Record<string, ParameterSchema>;
}

/** Returns the chips in the URL that the list accepts. */
export function shownChips(operation: ListId): Chip[] {
  const known = parameters(operation);
  const { params } = place.value;
  return [...new Set(params.keys())]
    .filter((key) => Object.hasOwn(known, key) && !noFilters.has(key))
    .map((key) => ({
      name: key.slice(prefixOf[operatorOf(key)].length),
      operator: operatorOf(key),
      values: known[key]?.items === undefined ? params.getAll(key).slice(0, 1) : params.getAll(key),
    }));
}

/** Returns the filters in the URL as the list's query: chips and free text, without the time range. */
export function filterQuery(operation: ListId): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  for (const chip of shownChips(operation)) {
    const key = keyOf(chip);
    query[key] = parameters(operation)[key]?.items === undefined ? (chip.values[0] ?? '') : [...chip.values];
  }
  const text = place.value.params.get('q');
  if (text !== null && text !== '') query.q = text;
  return query;
}

/** Adds a value, taken literally, to a filter or its negation. Values of one filter are alternatives. */
export function addFilter(name: string, value: string, operator: 'is' | 'not' = 'is'): void {
  const key = keyOf({ name, operator });
  const values = new Set(place.peek().params.getAll(key)).add(literally(value));
  setParams({ [key]: [...values] });
}

/** Replaces a chip with another chip. */
export const replaceChip = (before: Pick<Chip, 'name' | 'operator'>, after: Chip): void =>
  setParams({ [keyOf(before)]: undefined, [keyOf(after)]: after.values.length === 0 ? undefined : after.values });

/** Sets a filter to only this value, taken literally. Removes its negation and bounds, which may exclude the value. */
export const setFilter = (name: string, value: string): void =>
  setParams({
    ...Object.fromEntries(operators.map((operator) => [keyOf({ name, operator }), undefined])),
    [name]: literally(value),
  });

/** Sets a bound of a number, a time or a severity. Removes the other bound if no number lies within both. */
export function setBound(name: string, operator: 'min' | 'max', value: string): void {
  const other = keyOf({ name, operator: operator === 'min' ? 'max' : 'min' });
  const otherValue = Number(place.peek().params.get(other) ?? Number.NaN);
  const isEmpty = operator === 'min' ? Number(value) > otherValue : Number(value) < otherValue;
  setParams({ [keyOf({ name, operator })]: value, ...(isEmpty && { [other]: undefined }) });
}

export const removeFilter = (chip: Pick<Chip, 'name' | 'operator'>): void => setParams({ [keyOf(chip)]: undefined });
