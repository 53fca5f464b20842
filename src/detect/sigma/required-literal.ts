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

/** Returns whether the index can use a literal to exclude most records. */
export const excludesMost = ({ text, where }: Literal): boolean => where === 'whole' || text.length >= 3;

/** Returns an estimate of how rare the most frequent of the literals is; -1 without literals. */
function strength(witnesses: readonly RequiredLiteral[] | undefined): number {
  if (witnesses === undefined) return -1;
  return witnesses.reduce((least, { field, literal }) => Math.min(least, rarity(field, literal)), Infinity);
}

/**
 * Estimates how rare a literal is, by its length: short whole values such as `SF` are in many records. Exceptions: most
 * records have the same transport, a port is rarer than its length suggests, and a service is rarer than its port.
 */
function rarity(field: string, literal: Literal): number {
  const { length } = literal.text;
  if (!excludesMost(literal)) return -0.5;
  if (literal.where !== 'whole') return length;
  if (transports.test(field)) return 0;
  if (ports.test(field)) return Math.max(length, 4);
  if (services.test(field)) return Math.max(length, 5);
  return length;
}

const transports = /^(?:proto|(?:network\.)?transport)$/i;
const ports = /(?:port|_p)$/i;
const services = /^(?:app_proto(?:col)?|service|network\.protocol)$/i;
