import { Answers, holdsAsWritten, type Predicate } from './answers.ts';
import { Candidates } from './candidates.ts';
import type { Formula } from './formula.ts';
import { Keywords } from './keywords.ts';
import { LiteralIndex } from './literal-index.ts';
import { Questions } from './question.ts';
import type { JsonObject, RecordKind } from './record.ts';
import type { Turn } from './slot.ts';
import { Slots } from './slots.ts';
import { type Witness, witnessesOf } from './witness.ts';

/** A rule of which records of the kind are asked. */
export interface Asked<Rule> {
  readonly rule: Rule;
  readonly formula: Formula;
}

const nothing: JsonObject = {};

/**
 * The rules for one kind of record. A rule that cannot match without one of some literals is tried only where one of them
 * is found, so that a record costs as much as could match it and not as there are rules; those without are always tried.
 * By the rules that come with the program a conn record costs 1 µs so, where each part of each rule on its own costs 3.
 * It is used by one thread, and holds the record only while it is matched.
 */
export class KindMatcher<Rule> {
  readonly #turn: Turn = { record: nothing, stamp: 0 };
  readonly #keywords = new Keywords(this.#turn);
  readonly #slots: Slots;
  readonly #rules: readonly Rule[];
  readonly #predicates: readonly Predicate[];
  readonly #indexes: readonly LiteralIndex[];
  /** Rules that are always tried. */
  readonly #always: readonly number[];
  readonly #candidates: Candidates;

  /** @param indexed - false to try every rule of every record, as it is written: which finds the same */
  constructor(kind: RecordKind, rules: readonly Asked<Rule>[], indexed = true) {
    this.#slots = new Slots(kind, this.#turn);
    this.#rules = rules.map(({ rule }) => rule);
    const formulas = rules.map(({ formula }) => formula);
    this.#predicates = indexed ? this.#answersTo(formulas) : this.#asWritten(formulas);
    const witnesses = formulas.map((formula) => (indexed ? witnessesOf(formula) : undefined));
    this.#always = rules.flatMap((_, at) => (witnesses[at] === undefined ? [at] : []));
    this.#indexes = this.#index(witnesses);
    this.#candidates = new Candidates(rules.length);
  }

  /** Calls back for each rule that matches, in order. The callback MUST NOT match another record. */
  match(record: JsonObject, found: (rule: Rule) => void): void {
    const candidates = this.#candidates;
    this.#begin(record);
    for (let rule = candidates.take(); rule >= 0; rule = candidates.take())
      if (this.#predicates[rule]!()) found(this.#rules[rule]!);
    this.#turn.record = nothing;
  }

  /** The rule that takes longest of the record, tried alone, in milliseconds; undefined where none is tried. */
  slowest(record: JsonObject): { readonly rule: Rule; readonly ms: number } | undefined {
    let slowest: { rule: Rule; ms: number } | undefined;
    this.#begin(record);
    for (let rule = this.#candidates.take(); rule >= 0; rule = this.#candidates.take()) {
      // Nothing is remembered of what the rules before it asked.
      this.#turn.stamp++;
      const began = performance.now();
      this.#predicates[rule]!();
      const ms = performance.now() - began;
      if (ms > (slowest?.ms ?? 0)) slowest = { rule: this.#rules[rule]!, ms };
    }
    this.#turn.record = nothing;
    return slowest;
  }

  #begin(record: JsonObject): void {
    this.#turn.record = record;
    this.#turn.stamp++;
    this.#candidates.addAll(this.#always);
    for (let at = 0; at < this.#indexes.length; at++) this.#indexes[at]!.find(this.#candidates);
  }

  #answersTo(formulas: readonly Formula[]): readonly Predicate[] {
    const questions = new Questions(this.#slots);
    const answers = new Answers(this.#turn, this.#keywords);
    return formulas.map((formula) => questions.of(formula)).map((question) => answers.to(question));
  }

  #asWritten(formulas: readonly Formula[]): readonly Predicate[] {
    return formulas.map((formula) => () => holdsAsWritten(formula, this.#slots, this.#keywords));
  }

  #index(witnesses: readonly (readonly Witness[] | undefined)[]): LiteralIndex[] {
    const all = witnesses.flatMap((set, rule) =>
      (set ?? []).map(({ field, literal }) => ({ slot: this.#slots.of(field), literal, rule })),
    );
    return [...Map.groupBy(all, ({ slot }) => slot)].map(
      ([slot, literals]) => new LiteralIndex(slot, literals),
    );
  }
}
