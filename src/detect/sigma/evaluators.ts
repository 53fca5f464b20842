import { type FieldCache, type MatchContext, passes } from './field-cache.ts';
import { fold } from './fold.ts';
import type { Formula } from './formula.ts';
import type { CompiledItem, Test } from './item.ts';
import type { Predicate } from './predicate.ts';
import type { Keywords, Slots } from './slots.ts';

/** Returns true if a condition holds for the current record. */
export type Evaluator = () => boolean;

/** Creates evaluators for predicates. Predicates that several rules share are evaluated once per record. */
export class Evaluators {
  readonly #turn: MatchContext;
  readonly #keywords: Keywords;
  readonly #made = new Map<Predicate, Evaluator>();

  constructor(turn: MatchContext, keywords: Keywords) {
    this.#turn = turn;
    this.#keywords = keywords;
  }

  to(question: Predicate): Evaluator {
    const known = this.#made.get(question);
    if (known !== undefined) return known;
    const answer = this.#answer(question);
    const made = question.uses > 1 && question.cost >= worthRemembering ? once(answer, this.#turn) : answer;
    this.#made.set(question, made);
    return made;
  }

  #answer(question: Predicate): Evaluator {
    switch (question.kind) {
      case 'values':
        return isOneOf(question.slot, question.texts);
      case 'test':
        return testOf(question);
      case 'anywhere':
        return () => this.#keywords.passes(question.test);
      case 'not': {
        const of = this.to(question.of);
        return () => !of();
      }
      case 'and':
        return every(question.of.map((part) => this.to(part)));
      case 'or':
        return some(question.of.map((part) => this.to(part)));
    }
  }
}

/** Minimum cost of a cached predicate. Cheaper predicates take no longer to evaluate than to look up. */
const worthRemembering = 2;

function once(ask: Evaluator, turn: MatchContext): Evaluator {
  let stamp = -1;
  let answer = false;
  return () => {
    if (stamp !== turn.stamp) {
      answer = ask();
      stamp = turn.stamp;
    }
    return answer;
  };
}

function every(parts: readonly Evaluator[]): Evaluator {
  const [first, second] = parts;
  if (first === undefined) return () => true;
  if (second !== undefined && parts.length === 2) return () => first() && second();
  return () => {
    for (let at = 0; at < parts.length; at++) if (!parts[at]!()) return false;
    return true;
  };
}

function some(parts: readonly Evaluator[]): Evaluator {
  const [first, second] = parts;
  if (first === undefined) return () => false;
  if (second !== undefined && parts.length === 2) return () => first() || second();
  return () => {
    for (let at = 0; at < parts.length; at++) if (parts[at]!()) return true;
    return false;
  };
}

/**
 * Returns an evaluator that tests whether a field is one of the texts. Numbers are compared as numbers, so that ports
 * need no text.
 */
function isOneOf(slot: FieldCache, texts: ReadonlySet<string>): Evaluator {
  const numbers = new Set([...texts].map(Number).filter((number) => texts.has(fold(String(number)))));
  const isOne = (text: string): boolean => texts.has(text);
  return () => {
    const { value } = slot;
    if (typeof value === 'number' && Number.isFinite(value)) return numbers.has(value);
    return value !== undefined && slot.someText('folded', isOne);
  };
}

function testOf({ slot, test, other }: Extract<Predicate, { readonly kind: 'test' }>): Evaluator {
  switch (test.kind) {
    case 'blocks': {
      const { blocks } = test;
      return () => slot.isIn(blocks);
    }
    case 'null':
      return () => slot.isNull;
    case 'text': {
      const { view, matches } = test;
      return () => slot.someText(view, matches);
    }
    case 'number': {
      const { matches } = test;
      return () => slot.someNumber(matches);
    }
    case 'exists': {
      const { wanted } = test;
      return () => (slot.value !== undefined) === wanted;
    }
    default:
      return () => passes(test, slot, other);
  }
}

/**
 * Evaluates a formula as written, each part in order and without caching. Tests compare predicates with this reference.
 */
export function holdsAsWritten(formula: Formula, slots: Slots, keywords: Keywords): boolean {
  switch (formula.kind) {
    case 'item':
      return itemHolds(formula.item, slots, keywords);
    case 'not':
      return !holdsAsWritten(formula.of, slots, keywords);
    case 'and':
      return formula.of.every((part) => holdsAsWritten(part, slots, keywords));
    case 'or':
      return formula.of.some((part) => holdsAsWritten(part, slots, keywords));
  }
}

function itemHolds({ field, negated, all, values }: CompiledItem, slots: Slots, keywords: Keywords): boolean {
  const slot = field === undefined ? undefined : slots.of(field);
  const ask = (test: Test): boolean => {
    if (slot === undefined) return keywords.passes(test);
    return passes(test, slot, test.kind === 'field' ? slots.of(test.name) : undefined);
  };
  const one = (tests: readonly Test[]): boolean => tests.some(ask);
  const holds = all ? values.every(one) : values.some(one);
  return negated && slot !== undefined ? !slot.isNull && !holds : holds;
}
