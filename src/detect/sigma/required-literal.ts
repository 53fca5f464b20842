import type { Formula } from './formula.ts';
import type { CompiledItem, Literal } from './item.ts';

/** A literal in a field. A record can match a rule only if it contains at least one of the rule's literals. */
export interface RequiredLiteral {
  readonly field: string;
  readonly literal: Literal;
}

/**
 * Returns literals such that every matching record contains at least one of them; undefined if there are no such
 * literals. Among parts that must all match, the set whose shortest literal is the longest is chosen.
 */
export function witnessesOf(formula: Formula): readonly RequiredLiteral[] | undefined {
  switch (formula.kind) {
    case 'item':
      return ofItem(formula.item);
    case 'not':
      return undefined;
    case 'and':
      return formula.of.map(witnessesOf).reduce(better, undefined);
    case 'or':
      return union(formula.of.map(witnessesOf));
  }
}

function ofItem({ field, negated, all, values }: CompiledItem): readonly RequiredLiteral[] | undefined {
  if (negated || field === undefined) return undefined;
  const sets = values.map((tests) =>
    union(
      tests.map((test) => (test.kind === 'text' ? test.literals?.map((literal) => ({ field, literal })) : undefined)),
    ),
  );
  return all ? sets.reduce(better, undefined) : union(sets);
}

function union(sets: readonly (readonly RequiredLiteral[] | undefined)[]): readonly RequiredLiteral[] | undefined {
  const all: RequiredLiteral[] = [];
  for (const set of sets) {
    if (set === undefined) return undefined;
    for (const witness of set) all.push(witness);
  }
  return all;
}

function better(
  a: readonly RequiredLiteral[] | undefined,
  b: readonly RequiredLiteral[] | undefined,
): readonly RequiredLiteral[] | undefined {
  return strength(b) > strength(a) ? b : a;
}

/**
 * Estimates how rare the literals are, by their length: short whole values such as `tcp` and `SF` are in many
 * records. Ports are an exception: there are many ports, so a port is rarer than its protocol.
 */
function strength(witnesses: readonly RequiredLiteral[] | undefined): number {
  if (witnesses === undefined) return -1;
  let least = Number.POSITIVE_INFINITY;
  for (const { field, literal } of witnesses) {
    const { length } = literal.text;
    least = Math.min(least, ofPorts.test(field) ? Math.max(length, leastOfPorts) : length);
  }
  return least;
}

const ofPorts = /(?:port|_p)$/i;
const leastOfPorts = 4;
