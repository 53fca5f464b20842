import type { FieldCache } from './field-cache.ts';
import type { Formula } from './formula.ts';
import type { CompiledItem, Test } from './item.ts';
import type { Slots } from './slots.ts';

/** A condition on records of one kind. Equal predicates of different rules are shared. */
export type Predicate = {
  /** Relative cost of an evaluation; only the order matters. */
  readonly cost: number;
  /** Number of rules and predicates that contain the predicate. Results of shared predicates are cached. */
  uses: number;
} & (
  | Leaf
  | { readonly kind: 'not'; readonly of: Predicate }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Predicate[] }
);

type Leaf =
  /** Holds if the field is one of these case-folded texts, or a list that contains one of them. */
  | { readonly kind: 'values'; readonly slot: FieldCache; readonly texts: ReadonlySet<string> }
  | {
      readonly kind: 'test';
      readonly slot: FieldCache;
      readonly test: Test;
      readonly other: FieldCache | undefined;
    }
  /** Holds if any value of the record passes. */
  | { readonly kind: 'anywhere'; readonly test: Test };

/** A formula of one kind of record in which only leaves are negated. */
type Plain =
  | { readonly kind: 'leaf'; readonly key: string; readonly leaf: Leaf; readonly negated: boolean }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Plain[] };

/**
 * Converts formulas to predicates. Evaluation has no side effects, so the parts are sorted by cost, with
 * nested `and`s merged, so that expensive parts are evaluated for few records. Parts shared by several rules
 * become one predicate, evaluated once per record.
 */
export class Predicates {
  readonly #slots: Slots;
  readonly #byKey = new Map<string, Known>();
  /**
   * Converted formulas and values. A condition may name a search thousands of times, and a search may have thousands
   * of values; each is converted only once.
   */
  readonly #plains = { asked: new Map<Formula, Plain>(), negated: new Map<Formula, Plain>() };
  readonly #byPlain = new Map<Plain, Known>();

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  of(formula: Formula): Predicate {
    const { question } = this.#interned(this.#plain(formula, false));
    question.uses++;
    return question;
  }

  #plain(formula: Formula, negated: boolean): Plain {
    const plains = negated ? this.#plains.negated : this.#plains.asked;
    const known = plains.get(formula);
    if (known !== undefined) return known;
    const plain = this.#plainOf(formula, negated);
    plains.set(formula, plain);
    return plain;
  }

  #plainOf(formula: Formula, negated: boolean): Plain {
    switch (formula.kind) {
      case 'item':
        return this.#item(formula.item, negated);
      case 'not':
        return this.#plain(formula.of, !negated);
      default:
        return combined(
          formula.kind,
          formula.of.map((part) => this.#plain(part, negated)),
          negated,
        );
    }
  }

  #item({ field, negated: differs, all, values }: CompiledItem, negated: boolean): Plain {
    // Two negations cancel each other.
    const inverted = negated !== differs;
    const tests = all ? values.map((ways) => this.#some(field, ways, inverted)) : undefined;
    const holds = tests === undefined ? this.#some(field, values.flat(), inverted) : combined('and', tests, inverted);
    if (!differs || field === undefined) return holds;
    return combined('and', [this.#leaf(field, { kind: 'null' }, !negated), holds], negated);
  }

  /** Returns a formula of alternative tests. */
  #some(field: string | undefined, tests: readonly Test[], negated: boolean): Plain {
    const texts = new Set(tests.map(wholeText).filter((text) => text !== undefined));
    const grouped = field !== undefined && texts.size > 0;
    const rest = grouped ? tests.filter((test) => wholeText(test) === undefined) : tests;
    const leaves = rest.map((test) => this.#leaf(field, test, negated));
    if (grouped) leaves.unshift(this.#values(this.#slots.of(field), texts, negated));
    return combined('or', leaves, negated);
  }

  #values(slot: FieldCache, texts: ReadonlySet<string>, negated: boolean): Plain {
    const key = JSON.stringify(['values', slot.key, ...[...texts].sort()]);
    return { kind: 'leaf', key, leaf: { kind: 'values', slot, texts }, negated };
  }

  #leaf(field: string | undefined, test: Test, negated: boolean): Plain {
    if (field === undefined) {
      const key = JSON.stringify(['anywhere', ...testKey(test)]);
      return { kind: 'leaf', key, leaf: { kind: 'anywhere', test }, negated };
    }
    const slot = this.#slots.of(field);
    const other = test.kind === 'field' ? this.#slots.of(test.name) : undefined;
    const key = JSON.stringify(['test', slot.key, other?.key, ...testKey(test)]);
    return { kind: 'leaf', key, leaf: { kind: 'test', slot, test, other }, negated };
  }

  #interned(plain: Plain): Known {
    const known = this.#byPlain.get(plain);
    if (known !== undefined) return known;
    const interned = this.#internedOf(plain);
    this.#byPlain.set(plain, interned);
    return interned;
  }

  #internedOf(plain: Plain): Known {
    if (plain.kind === 'leaf') {
      const leaf = this.#known(plain.key, () => ({ ...plain.leaf, cost: costOf(plain.leaf), uses: 0 }));
      if (!plain.negated) return leaf;
      return this.#known(`not ${leaf.id}`, () => {
        const of = used(leaf.question);
        // A negation is evaluated after other predicates of the same cost, because it holds for most values.
        return { kind: 'not', of, cost: of.cost + 0.5, uses: 0 };
      });
    }
    const { kind } = plain;
    const parts = [...new Set(plain.of.map((part) => this.#interned(part)))];
    parts.sort((a, b) => a.question.cost - b.question.cost || a.id - b.id);
    const [only] = parts;
    if (only !== undefined && parts.length === 1) return only;
    return this.#known(`${kind} ${parts.map(({ id }) => id).join()}`, () => {
      const of = parts.map(({ question }) => used(question));
      const costs = of.map(({ cost }) => cost);
      return { kind, of, cost: kind === 'or' ? sum(costs) : (costs[0] ?? 0) + sum(costs) / 4, uses: 0 };
    });
  }

  #known(key: string, make: () => Predicate): Known {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const made = { id: this.#byKey.size, question: make() };
    this.#byKey.set(key, made);
    return made;
  }
}

interface Known {
  readonly id: number;
  readonly question: Predicate;
}

/**
 * Maximum parts of a nested formula that are merged into the outer formula. Most parts of longer formulas are rarely
 * evaluated.
 */
const maxRaised = 16;

/** Merges nested parts of one kind, and applies De Morgan's laws if the whole is negated. */
function combined(kind: 'and' | 'or', of: readonly Plain[], negated: boolean): Plain {
  const [only] = of;
  if (only !== undefined && of.length === 1) return only;
  const meant = negated ? (kind === 'and' ? 'or' : 'and') : kind;
  const raised = (part: Plain): readonly Plain[] =>
    part.kind === meant && part.of.length <= maxRaised ? part.of : [part];
  return { kind: meant, of: [...new Set(of)].flatMap(raised) };
}

function used(question: Predicate): Predicate {
  question.uses++;
  return question;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Returns the only case-folded text that a test matches; undefined if several texts match. */
function wholeText(test: Test): string | undefined {
  return test.kind === 'text' && test.view === 'folded' ? test.exact : undefined;
}

/** Returns a key that is equal for equivalent tests. */
function testKey(test: Test): readonly (string | boolean)[] {
  switch (test.kind) {
    case 'text':
      return ['text', test.view, test.regex !== undefined, test.exact !== undefined, test.source];
    case 'blocks':
      return ['blocks', test.blocks.key];
    case 'number':
      return ['number', test.source];
    case 'moment':
      return ['moment', test.part, test.source];
    case 'null':
      return ['null'];
    case 'exists':
      return ['exists', test.wanted];
    case 'field':
      return ['field', test.cased, test.source];
  }
}

function costOf(leaf: Leaf): number {
  if (leaf.kind === 'anywhere') return leaf.test.kind === 'text' && leaf.test.regex !== undefined ? 400 : 200;
  if (leaf.kind === 'values') return [...leaf.texts].every((text) => text === String(Number(text))) ? 1 : 2;
  const { test } = leaf;
  if (test.kind !== 'text') return costs[test.kind];
  return test.regex !== undefined ? 40 : test.view === 'raw' || test.view === 'folded' ? 4 : 10;
}

const costs = { null: 1, exists: 1, number: 2, blocks: 8, field: 10, moment: 12 } as const;
