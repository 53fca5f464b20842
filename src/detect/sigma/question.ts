import type { Formula } from './formula.ts';
import type { CompiledItem, Test } from './item.ts';
import type { Slot } from './slot.ts';
import type { Slots } from './slots.ts';

/** What is asked of a record of one kind; equal questions of all rules are one. */
export type Question = {
  /** What it takes to answer, of which only the order counts. */
  readonly cost: number;
  /** Of how many others or rules it is a part: what is asked again is worth remembering. */
  uses: number;
} & (
  | Leaf
  | { readonly kind: 'not'; readonly of: Question }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Question[] }
);

type Leaf =
  /** The field is one of these texts, or a list that has one; with case folded. */
  | { readonly kind: 'values'; readonly slot: Slot; readonly texts: ReadonlySet<string> }
  | { readonly kind: 'test'; readonly slot: Slot; readonly test: Test; readonly other: Slot | undefined }
  /** Any value of the record passes. */
  | { readonly kind: 'anywhere'; readonly test: Test };

/** A formula of one kind of record that negates nothing but leaves. */
type Plain =
  | { readonly kind: 'leaf'; readonly key: string; readonly leaf: Leaf; readonly negated: boolean }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Plain[] };

/**
 * Makes questions of formulas. As asking changes nothing, their parts may be asked in any order: the cheapest come first,
 * those of an `and` within an `and` among the others, so that few records are asked the dear ones. Parts that several
 * rules ask are one question, which need be answered once a record.
 */
export class Questions {
  readonly #slots: Slots;
  readonly #byKey = new Map<string, Known>();
  /** A condition may name a search thousands of times, and a search have thousands of values: each is looked at once. */
  readonly #plains = { asked: new Map<Formula, Plain>(), negated: new Map<Formula, Plain>() };
  readonly #byPlain = new Map<Plain, Known>();

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  of(formula: Formula): Question {
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
    // Who negates twice asks for it.
    const inverted = negated !== differs;
    const tests = all ? values.map((ways) => this.#some(field, ways, inverted)) : undefined;
    const holds =
      tests === undefined ? this.#some(field, values.flat(), inverted) : combined('and', tests, inverted);
    if (!differs || field === undefined) return holds;
    return combined('and', [this.#leaf(field, { kind: 'null' }, !negated), holds], negated);
  }

  /** One of the tests suffices. */
  #some(field: string | undefined, tests: readonly Test[], negated: boolean): Plain {
    const texts = new Set(tests.map(wholeText).filter((text) => text !== undefined));
    const grouped = field !== undefined && texts.size > 0;
    const rest = grouped ? tests.filter((test) => wholeText(test) === undefined) : tests;
    const leaves = rest.map((test) => this.#leaf(field, test, negated));
    if (grouped) leaves.unshift(this.#values(this.#slots.of(field), texts, negated));
    return combined('or', leaves, negated);
  }

  #values(slot: Slot, texts: ReadonlySet<string>, negated: boolean): Plain {
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
        // After what is as cheap, as most values are none of a few.
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

  #known(key: string, make: () => Question): Known {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const made = { id: this.#byKey.size, question: make() };
    this.#byKey.set(key, made);
    return made;
  }
}

interface Known {
  readonly id: number;
  readonly question: Question;
}

/** Parts of a part that become parts of the whole: where there are many, each of them is asked seldom anyway. */
const maxRaised = 16;

/** With those of a part of the same kind as parts of its own; and by De Morgan's laws, where the whole is negated. */
function combined(kind: 'and' | 'or', of: readonly Plain[], negated: boolean): Plain {
  const [only] = of;
  if (only !== undefined && of.length === 1) return only;
  const meant = negated ? (kind === 'and' ? 'or' : 'and') : kind;
  const raised = (part: Plain): readonly Plain[] =>
    part.kind === meant && part.of.length <= maxRaised ? part.of : [part];
  return { kind: meant, of: [...new Set(of)].flatMap(raised) };
}

function used(question: Question): Question {
  question.uses++;
  return question;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** All that a test matches, where that is one text with case folded. */
function wholeText(test: Test): string | undefined {
  return test.kind === 'text' && test.view === 'folded' ? test.exact : undefined;
}

/** The same for tests that ask the same. */
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
