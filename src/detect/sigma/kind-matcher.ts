import { resolveField } from './fields/field.ts';
import type { Formula } from './formula.ts';
import type { CompiledItem, Test } from './item.ts';
import { Keywords } from './keywords.ts';
import { LiteralIndex } from './literal-index.ts';
import type { JsonObject, RecordKind } from './record.ts';
import { passes, Slot, type Turn } from './slot.ts';
import { type Witness, witnessesOf } from './witness.ts';

/** A rule of which records of the kind are asked. */
export interface Asked<Rule> {
  readonly rule: Rule;
  readonly formula: Formula;
}

type Predicate = () => boolean;

const nothing: JsonObject = {};

/**
 * The rules for one kind of record. A rule that cannot match without one of some literals is tried only where one of them
 * is found, so that a record costs as much as could match it and not as there are rules; those without are always tried.
 * It is used by one thread, and holds the record only while it is matched.
 */
export class KindMatcher<Rule> {
  readonly #turn: Turn = { record: nothing, stamp: 0 };
  readonly #keywords = new Keywords(this.#turn);
  readonly #slots = new Map<string, Slot>();
  readonly #rules: readonly Rule[];
  readonly #predicates: readonly Predicate[];
  readonly #indexes: readonly LiteralIndex[];
  /** Rules that are always tried, in order. */
  readonly #always: readonly number[];
  readonly #markedAt: Float64Array;
  readonly #marked: Int32Array;
  #count = 0;

  /** @param indexed - false to try every rule of every record, which finds the same */
  constructor(kind: RecordKind, rules: readonly Asked<Rule>[], indexed = true) {
    this.#rules = rules.map(({ rule }) => rule);
    this.#predicates = rules.map(({ formula }) => this.#predicate(kind, formula));
    const witnesses = rules.map(({ formula }) => (indexed ? witnessesOf(formula) : undefined));
    this.#always = rules.flatMap((_, at) => (witnesses[at] === undefined ? [at] : []));
    this.#indexes = this.#index(kind, witnesses);
    this.#markedAt = new Float64Array(rules.length).fill(-1);
    this.#marked = new Int32Array(rules.length);
  }

  /** Calls back for each rule that matches, in order. The callback MUST NOT match another record. */
  match(record: JsonObject, found: (rule: Rule) => void): void {
    this.#turn.record = record;
    this.#turn.stamp++;
    this.#count = 0;
    for (let at = 0; at < this.#indexes.length; at++) this.#indexes[at]!.find(this.#mark);
    this.#try(found);
    this.#turn.record = nothing;
  }

  readonly #mark = (rule: number): void => {
    if (this.#markedAt[rule] === this.#turn.stamp) return;
    this.#markedAt[rule] = this.#turn.stamp;
    this.#marked[this.#count++] = rule;
  };

  /** Those marked and those that always are, in order of rules. */
  #try(found: (rule: Rule) => void): void {
    const marked = this.#marked;
    if (this.#count > 1) marked.subarray(0, this.#count).sort();
    let next = 0;
    for (let at = 0; at < this.#always.length; at++) {
      const rule = this.#always[at]!;
      while (next < this.#count && marked[next]! < rule) this.#tryOne(marked[next++]!, found);
      this.#tryOne(rule, found);
    }
    while (next < this.#count) this.#tryOne(marked[next++]!, found);
  }

  #tryOne(rule: number, found: (rule: Rule) => void): void {
    if (this.#predicates[rule]!()) found(this.#rules[rule]!);
  }

  #index(kind: RecordKind, witnesses: readonly (readonly Witness[] | undefined)[]): LiteralIndex[] {
    const all = witnesses.flatMap((set, rule) =>
      (set ?? []).map(({ field, literal }) => ({ slot: this.#slot(kind, field), literal, rule })),
    );
    return [...Map.groupBy(all, ({ slot }) => slot)].map(
      ([slot, literals]) => new LiteralIndex(slot, literals),
    );
  }

  /** The same for all names of a field. */
  #slot(kind: RecordKind, name: string): Slot {
    const { key, read } = resolveField(kind, name);
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const slot = new Slot(read, this.#turn);
    this.#slots.set(key, slot);
    return slot;
  }

  #predicate(kind: RecordKind, formula: Formula): Predicate {
    switch (formula.kind) {
      case 'item':
        return this.#itemPredicate(kind, formula.item);
      case 'not': {
        const of = this.#predicate(kind, formula.of);
        return () => !of();
      }
      case 'and':
        return every(formula.of.map((part) => this.#predicate(kind, part)));
      case 'or':
        return some(formula.of.map((part) => this.#predicate(kind, part)));
    }
  }

  #itemPredicate(kind: RecordKind, { field, negated, all, values }: CompiledItem): Predicate {
    if (field === undefined) {
      const ask = (test: Test) => this.#keywords.passes(test);
      const parts = values.map((tests) => () => tests.some(ask));
      return all ? every(parts) : some(parts);
    }
    const slot = this.#slot(kind, field);
    const asks = (test: Test): Predicate => {
      const other = test.kind === 'field' ? this.#slot(kind, test.name) : undefined;
      return () => passes(test, slot, other);
    };
    const parts = all
      ? values.map((tests) => some(tests.map(asks)))
      : [some(anyOf(values.flat(), slot, asks))];
    const holds = every(parts);
    return negated ? () => !slot.isNull && !holds() : holds;
  }
}

/** Whole values that are compared in the same form are looked up in a set. */
function anyOf(tests: readonly Test[], slot: Slot, asks: (test: Test) => Predicate): Predicate[] {
  const exactOf = (test: Test): string | undefined =>
    test.kind === 'text' && test.view === 'folded' ? test.exact : undefined;
  const rest = tests.filter((test) => exactOf(test) === undefined);
  if (tests.length - rest.length < 4) return tests.map(asks);
  const set = new Set(tests.map(exactOf).filter((exact) => exact !== undefined));
  const isOne = (text: string): boolean => set.has(text);
  return [() => slot.someText('folded', isOne), ...rest.map(asks)];
}

function every(parts: readonly Predicate[]): Predicate {
  const [only, ...more] = parts;
  if (only !== undefined && more.length === 0) return only;
  return () => {
    for (let at = 0; at < parts.length; at++) if (!parts[at]!()) return false;
    return true;
  };
}

function some(parts: readonly Predicate[]): Predicate {
  const [only, ...more] = parts;
  if (only !== undefined && more.length === 0) return only;
  return () => {
    for (let at = 0; at < parts.length; at++) if (parts[at]!()) return true;
    return false;
  };
}
