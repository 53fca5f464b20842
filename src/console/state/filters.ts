import type { TObject, TSchema } from 'typebox';
import type { ListId } from '../../client/client.ts';
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

/** A filter chip: `name` is, or is not, one of `values`. */
export interface Chip {
  readonly name: string;
  readonly not: boolean;
  readonly values: readonly string[];
}

const negation = 'not_';
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
    .filter(([name]) => !noFilters.has(name) && !name.startsWith(negation))
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

/** Returns whether a filter of the list can be negated. */
export const canNegate = (operation: ListId, name: string): boolean =>
  Object.hasOwn(parameters(operation), negation + name);

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
      name: key.startsWith(negation) ? key.slice(negation.length) : key,
      not: key.startsWith(negation),
      values: known[key]?.items === undefined ? params.getAll(key).slice(0, 1) : params.getAll(key),
    }));
}

/** Returns the filters in the URL as the list's query: chips and free text, without the time range. */
export function filterQuery(operation: ListId): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  for (const { name, not, values } of shownChips(operation)) {
    const key = not ? negation + name : name;
    query[key] = parameters(operation)[key]?.items === undefined ? (values[0] ?? '') : [...values];
  }
  const text = place.value.params.get('q');
  if (text !== null && text !== '') query.q = text;
  return query;
}

/** Adds a value, taken literally, to a filter. Values of one filter are alternatives. */
export function addFilter(name: string, value: string, { not = false } = {}): void {
  const key = not ? negation + name : name;
  const values = new Set(place.peek().params.getAll(key)).add(literally(value));
  setParams({ [key]: [...values] });
}

/** Replaces a chip with another chip. */
export const replaceChip = (before: Pick<Chip, 'name' | 'not'>, { name, not, values }: Chip): void =>
  setParams({
    [before.not ? negation + before.name : before.name]: undefined,
    [not ? negation + name : name]: values.length === 0 ? undefined : values,
  });

/** Sets a filter to only this value, taken literally. */
export const setFilter = (name: string, value: string): void =>
  setParams({ [name]: literally(value), [negation + name]: undefined });

export const removeFilter = ({ name, not }: Pick<Chip, 'name' | 'not'>): void =>
  setParams({ [not ? negation + name : name]: undefined });
