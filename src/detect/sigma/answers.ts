import { fold } from './fold.ts';
import type { Formula } from './formula.ts';
import type { CompiledItem, Test } from './item.ts';
import type { Keywords } from './keywords.ts';
import type { Question } from './question.ts';
import { passes, type Slot, type Turn } from './slot.ts';
import type { Slots } from './slots.ts';

/** Whether it holds for the record of the turn. */
export type Predicate = () => boolean;

/** Answers questions, of each that several rules ask once a record. */
export class Answers {
  readonly #turn: Turn;
  readonly #keywords: Keywords;
  readonly #made = new Map<Question, Predicate>();

  constructor(turn: Turn, keywords: Keywords) {
    this.#turn = turn;
    this.#keywords = keywords;
  }

  to(question: Question): Predicate {
    const known = this.#made.get(question);
    if (known !== undefined) return known;
    const answer = this.#answer(question);
    const made = question.uses > 1 && question.cost >= worthRemembering ? once(answer, this.#turn) : answer;
    this.#made.set(question, made);
    return made;
  }

  #answer(question: Question): Predicate {
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

/** Cheaper ones are answered as quickly as the answer is looked up. */
const worthRemembering = 2;

function once(ask: Predicate, turn: Turn): Predicate {
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

function every(parts: readonly Predicate[]): Predicate {
  const [first, second] = parts;
  if (first === undefined) return () => true;
  if (second !== undefined && parts.length === 2) return () => first() && second();
  return () => {
    for (let at = 0; at < parts.length; at++) if (!parts[at]!()) return false;
    return true;
  };
}

function some(parts: readonly Predicate[]): Predicate {
  const [first, second] = parts;
  if (first === undefined) return () => false;
  if (second !== undefined && parts.length === 2) return () => first() || second();
  return () => {
    for (let at = 0; at < parts.length; at++) if (parts[at]!()) return true;
    return false;
  };
}

/** Numbers are looked up as such: no text is made of a port. */
function isOneOf(slot: Slot, texts: ReadonlySet<string>): Predicate {
  const numbers = new Set([...texts].map(Number).filter((number) => texts.has(fold(String(number)))));
  const isOne = (text: string): boolean => texts.has(text);
  return () => {
    const { value } = slot;
    if (typeof value === 'number' && Number.isFinite(value)) return numbers.has(value);
    return value !== undefined && slot.someText('folded', isOne);
  };
}

function testOf({ slot, test, other }: Extract<Question, { readonly kind: 'test' }>): Predicate {
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

/** As a formula is written, each part in its order and every time anew: what questions are held against. */
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
