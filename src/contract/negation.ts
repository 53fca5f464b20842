/**
 * Each filter `<name>` with multiple values has a negation `not_<name>`, which matches items that match none
 * of the values.
 */
export const negationPrefix = 'not_';

type Value = string | number | boolean;

/** A parsed filter term, in the form of `FilterTerm`. */
export interface ParsedTerm {
  readonly field: string;
  readonly values: readonly Value[];
  readonly negated?: true;
}

/** Returns the filter term of a parameter. No attribute has a name that starts with the prefix. */
export function termOf(parameter: string, values: readonly Value[]): ParsedTerm {
  return parameter.startsWith(negationPrefix)
    ? { field: parameter.slice(negationPrefix.length), values, negated: true }
    : { field: parameter, values };
}
