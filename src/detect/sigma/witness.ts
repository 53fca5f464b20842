import type { Formula } from './formula.ts';
import type { CompiledItem, Literal } from './item.ts';

/** A literal in a field, without which (or another of its set) a rule cannot match. */
export interface Witness {
  readonly field: string;
  readonly literal: Literal;
}

/**
 * Literals of which at least one is in every record that the formula matches; undefined where nothing of the kind is sure.
 * Of what must hold together the set is taken that tells most: that whose weakest literal is the longest.
 */
export function witnessesOf(formula: Formula): readonly Witness[] | undefined {
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

function ofItem({ field, negated, all, values }: CompiledItem): readonly Witness[] | undefined {
  if (negated || field === undefined) return undefined;
  const sets = values.map((tests) =>
    union(
      tests.map((test) =>
        test.kind === 'text' ? test.literals?.map((literal) => ({ field, literal })) : undefined,
      ),
    ),
  );
  return all ? sets.reduce(better, undefined) : union(sets);
}

function union(sets: readonly (readonly Witness[] | undefined)[]): readonly Witness[] | undefined {
  const all: Witness[] = [];
  for (const set of sets) {
    if (set === undefined) return undefined;
    for (const witness of set) all.push(witness);
  }
  return all;
}

function better(
  a: readonly Witness[] | undefined,
  b: readonly Witness[] | undefined,
): readonly Witness[] | undefined {
  return strength(b) > strength(a) ? b : a;
}

/**
 * Short whole values are words that many records have, `tcp` and `SF`: length tells how seldom either is found. But ports,
 * of which there are many, tell more than the protocol that they are of.
 */
function strength(witnesses: readonly Witness[] | undefined): number {
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
