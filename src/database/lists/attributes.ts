import { type AttributeKind, attributesTo, type ListAttributes } from '../../contract/list-attributes.ts';
import { address, number, oneOf, type TermCompiler, text } from './filter.ts';
import type { ListSpec } from './list.ts';
import { addressOrder, type Sorts, timeOrder } from './order.ts';

/**
 * Returns the list of a resource, filtered and sorted by the attributes of the resource. Terms and sorts in `spec` are
 * added, and take precedence over attributes.
 */
export function attributeList<T extends object>(
  attributes: ListAttributes,
  spec: Omit<ListSpec<T>, 'terms' | 'sorts'> & Partial<Pick<ListSpec<T>, 'terms' | 'sorts'>>,
): ListSpec<T> {
  const derive = <V>(use: 'filter' | 'sort', make: (name: string, kind: AttributeKind) => V) =>
    Object.fromEntries(attributesTo(use, attributes).map((name) => [name, make(name, attributes[name]!.kind)]));
  return {
    ...spec,
    terms: { ...derive('filter', termOf<T>), ...spec.terms },
    sorts: { ...derive('sort', sortOf<T>), ...spec.sorts },
  };
}

/** Returns a reader of an attribute. */
const reader =
  <V>(name: string) =>
  <T>(item: T) =>
    item[name as keyof T] as V | undefined;

function termOf<T>(name: string, kind: AttributeKind): TermCompiler<T> {
  if (kind === 'address') return address(reader<string>(name));
  if (kind === 'number') return number(reader<number>(name));
  if (kind === 'flag') return text((item) => String(reader<boolean>(name)(item)));
  return typeof kind === 'string' ? text(reader<string>(name)) : oneOf(kind, reader<string>(name));
}

function sortOf<T>(name: string, kind: AttributeKind): Sorts<T>[string] {
  const read = reader<string>(name);
  if (kind === 'time') return (item) => timeOrder(read(item));
  return kind === 'address' ? (item) => addressOrder(read(item)) : read;
}
