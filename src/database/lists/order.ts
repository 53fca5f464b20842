import { invalidField } from '../../errors.ts';
import { addressBytes } from '../../net/ip.ts';
import type { SortOrder } from '../../store/store.ts';

/** A sort value: a number or a text; undefined if the item lacks the attribute. */
type SortValue = number | string | undefined;

/** The position of an item in a list. */
export interface ListPosition {
  readonly value: SortValue;
  readonly id: string;
}

/**
 * Functions that return the sort value of an item, by attribute. Values of a scale, such as severities, sort by rank,
 * addresses by number, times and texts by code unit.
 */
export type Sorts<T> = Readonly<Record<string, (item: T) => SortValue>>;

export const rank = (scale: readonly string[], value: string | undefined): number | undefined =>
  value === undefined ? undefined : scale.indexOf(value);

/** Returns a time (ISO 8601) as a number; undefined without a time. */
export const timeOrder = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time);

/** Returns an address as text that sorts in the order of the address numbers. */
export function addressOrder(address: string | undefined): string | undefined {
  const bytes = address === undefined ? undefined : addressBytes(address);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('hex');
}

/**
 * Returns the function that returns the sort value of an attribute. Throws INVALID_REQUEST for an attribute
 * by which lists cannot be sorted.
 */
export function sortValueOf<T>(
  { type, sorts }: { readonly type: string; readonly sorts: Sorts<T> },
  attribute: string,
): (item: T) => SortValue {
  const read = Object.hasOwn(sorts, attribute) ? sorts[attribute] : undefined;
  if (read === undefined)
    throw invalidField('sort', `${attribute} is not an attribute that ${type} lists can be sorted by`);
  return read;
}

/**
 * Returns a comparison of positions for sorting. Items without the attribute come last in both directions; items
 * with equal values are ordered by id, in the same direction.
 */
export function comparePositions(order: SortOrder): (a: ListPosition, b: ListPosition) => number {
  const sign = order === 'asc' ? 1 : -1;
  return (a, b) => {
    if (a.value === b.value) return sign * compare(a.id, b.id);
    if (a.value === undefined) return 1;
    if (b.value === undefined) return -1;
    return sign * compare(a.value, b.value);
  };
}

function compare<T extends number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
