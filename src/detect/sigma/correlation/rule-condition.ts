import { type Condition, parseCondition } from '../condition.ts';

/**
 * Rules that must have occurred, in the order of the correlation, and rules that must not have occurred.
 * Rules are indexes into the correlation's list.
 */
export interface Alternative {
  readonly required: readonly number[];
  readonly forbidden: readonly number[];
}

const notNames = new Set(['and', 'or', 'not', 'of', 'them', '1', 'all']);

/**
 * Parses a condition over rules, which has the syntax of conditions over search identifiers. Unknown names
 * are accepted, because the condition may use the name of a rule that the correlation lists by id.
 *
 * @param known - names and ids of the rules, for `1 of` and `all of`
 * @returns a text with the problem for an invalid condition
 */
export function parseRuleCondition(text: string, known: readonly string[]): Condition | string {
  const words = text.match(/[^\s()]+/g) ?? [];
  const names = words.filter((word) => !notNames.has(word.toLowerCase()) && !word.includes('*'));
  const condition = parseCondition(text, [...new Set([...known, ...names])]);
  return 'reason' in condition ? condition.reason : condition;
}

/** Returns the alternatives of a condition; undefined if there are more than `max`. */
export function alternativesOf(
  condition: Condition,
  place: (name: string) => number,
  max: number,
): readonly Alternative[] | undefined {
  const walk = (node: Condition, positive: boolean): readonly Alternative[] | undefined => {
    if (node.kind === 'not') return walk(node.of, !positive);
    if (node.kind === 'search') {
      const rule = [place(node.name)];
      return [positive ? { required: rule, forbidden: [] } : { required: [], forbidden: rule }];
    }
    const joined = (node.kind === 'or') === positive ? anyOf : allOf;
    let sum: readonly Alternative[] | undefined;
    for (const part of node.of) {
      const alternatives = walk(part, positive);
      if (alternatives === undefined) return;
      sum = sum === undefined ? alternatives : joined(sum, alternatives);
      if (sum.length > max) return;
    }
    return sum;
  };
  return walk(condition, true);
}

function anyOf(some: readonly Alternative[], others: readonly Alternative[]): Alternative[] {
  return distinct([...some, ...others]);
}

/** Combines two lists of alternatives, without contradictions. */
function allOf(some: readonly Alternative[], others: readonly Alternative[]): Alternative[] {
  const pairs = some.flatMap((one) =>
    others.map((other) => ({
      required: merged(one.required, other.required),
      forbidden: merged(one.forbidden, other.forbidden),
    })),
  );
  return distinct(pairs.filter(({ required, forbidden }) => !required.some((rule) => forbidden.includes(rule))));
}

function merged(some: readonly number[], others: readonly number[]): number[] {
  return [...new Set([...some, ...others])].toSorted((a, b) => a - b);
}

function distinct(alternatives: readonly Alternative[]): Alternative[] {
  return [...new Map(alternatives.map((one) => [JSON.stringify(one), one])).values()];
}
