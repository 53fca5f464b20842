/**
 * Each filter `<name>` with multiple values has a negation `not_<name>`, which matches items that match none
 * of the values. Each filter by a number or a time also has the bounds `min_<name>` and `max_<name>`.
 */
export const prefixes = { not: 'not_', min: 'min_', max: 'max_' } as const;

type Value = string | number | boolean;

/**
 * A filter term for one field. A negated term matches exactly the items that the term does not match, including items
 * without the field. With `bound`, the only value is the least or the largest value that matches, and items without the
 * field do not match.
 */
export interface ParsedTerm {
  readonly field: string;
  readonly values: readonly Value[];
  readonly negated?: true;
  readonly bound?: 'min' | 'max';
}

/**
 * Returns the filter term of a parameter, or undefined if the parameter is not a filter. No attribute has a name that
 * starts with one of the prefixes.
 */
export function termOf(parameter: string, value: Value | readonly Value[]): ParsedTerm | undefined {
  if (typeof value === 'object') {
    if (!parameter.startsWith(prefixes.not)) return { field: parameter, values: value };
    return { field: parameter.slice(prefixes.not.length), values: value, negated: true };
  }
  if (parameter === 'min_severity') return undefined;
  for (const bound of ['min', 'max'] as const)
    if (parameter.startsWith(prefixes[bound]))
      return { field: parameter.slice(prefixes[bound].length), values: [value], bound };
  return undefined;
}

/** Returns the parameter of a term, the reverse of `termOf`. */
export function parameterOf({ field, negated, bound }: Omit<ParsedTerm, 'values'>): string {
  const prefix = negated === true ? prefixes.not : bound === undefined ? '' : prefixes[bound];
  return prefix + field;
}
