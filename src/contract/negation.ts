/** A filter `<name>` that takes several values also comes as `not_<name>`: what none of the values is true of. */
export const negationPrefix = 'not_';

type Value = string | number | boolean;

/** As `FilterTerm` has it. */
export interface ParsedTerm {
  readonly field: string;
  readonly values: readonly Value[];
  readonly negated?: true;
}

/** The term that a parameter of this name means. No attribute has a name that begins with the prefix. */
export function termOf(parameter: string, values: readonly Value[]): ParsedTerm {
  return parameter.startsWith(negationPrefix)
    ? { field: parameter.slice(negationPrefix.length), values, negated: true }
    : { field: parameter, values };
}
