import { limits } from '../../limits.ts';
import type { SigmaDocument } from './document.ts';
import type { Formula } from './formula.ts';
import type { CompiledItem, Test } from './item.ts';
import type { RecordKind } from './record.ts';
import { excludesMost, witnessesOf } from './required-literal.ts';

/**
 * Estimates the nanoseconds that a formula takes for one record: the sum over its tests, each with a value of 100
 * characters. Senders choose the values, so every test is counted. The cost of a formula that the index cannot
 * exclude for most records is multiplied. Regular expressions are measured on generated texts. The most expensive
 * known value of `limits.maxRegexTextLength` characters took seven times the estimated cost. The result is
 * deterministic while the budget lasts.
 *
 * @param room - the limit at which measuring stops; the result is then a lower bound
 * @param budget - the time left for measuring; if no time is left, the cost of an expression is the maximum for its
 *   number of states
 */
export function costOf(formula: Formula, room = Number.POSITIVE_INFINITY, budget?: MeasureBudget): number {
  const literals = witnessesOf(formula)?.map(({ literal }) => literal);
  const isIndexed = literals?.every(excludesMost) ?? false;
  const factor = isIndexed ? 1 : costs.always;
  let cost = costs.formula * factor;
  // A condition may name a search many times, but the search is evaluated once.
  const parts = new Set([formula]);
  for (const part of parts) {
    if (part.kind === 'item') cost += factor * itemCost(part.item, (room - cost) / factor, budget);
    else for (const of of part.kind === 'not' ? [part.of] : part.of) parts.add(of);
    if (cost > room) break;
  }
  return Math.round(cost);
}

/** The time left to measure the regular expressions of the documents in `of`. */
export interface MeasureBudget {
  readonly of: ReadonlySet<SigmaDocument>;
  ms: number;
}

/**
 * Costs in nanoseconds, from `bench sigma`. Costs of regular expressions were measured with the most
 * expensive texts found.
 */
const costs = {
  formula: 100,
  /** Factor for rules that are evaluated for every record. */
  always: 5,
  /** Cost of a search in all values of a record. */
  anywhere: 30,
  /** Cost of the comparison with one of several whole values, which are looked up together. */
  exact: 5,
  part: 50,
  dashes: 200,
  /**
   * Cost of a regular expression in addition to `regexState` for each state: the generated texts do not necessarily
   * contain the most expensive text.
   */
  regex: 200,
  regexState: 50,
  regexWork: 20_000,
  number: 20,
  blocks: 100,
  field: 100,
  moment: 200,
  null: 10,
  exists: 10,
  /** Cost of passing a match to a correlation. */
  feed: 1000,
} as const;

export const feedCost: number = costs.feed;

function itemCost({ field, values }: CompiledItem, room: number, budget?: MeasureBudget): number {
  const factor = field === undefined ? costs.anywhere : 1;
  let cost = 0;
  for (const ways of values)
    for (const test of ways) {
      cost += factor * testCost(test, room - cost, budget);
      if (cost > room) return cost;
    }
  return cost;
}

function testCost(test: Test, room: number, budget?: MeasureBudget): number {
  if (test.kind !== 'text') return costs[test.kind];
  if (test.regex === undefined) {
    if (test.view === 'raw dashes' || test.view === 'folded dashes') return costs.dashes;
    return test.exact === undefined ? costs.part : costs.exact;
  }
  const cost = costs.regex + costs.regexState * test.regex.states;
  return cost > room ? cost : cost + costs.regexWork * workOf(test.source, test.regex, budget);
}

/**
 * Work of expressions that were measured earlier, by source. Cached because every change of rules compiles all
 * expressions.
 */
const measured = new Map<string, number>();

function workOf(
  source: string,
  regex: { readonly states: number; workPerCharacter(): number },
  budget?: MeasureBudget,
): number {
  const known = measured.get(source);
  if (known !== undefined) return known;
  if (budget !== undefined && budget.ms <= 0) return regex.states;
  if (measured.size >= limits.maxRules) measured.clear();
  const begun = performance.now();
  const work = regex.workPerCharacter();
  if (budget !== undefined) budget.ms -= performance.now() - begun;
  measured.set(source, work);
  return work;
}

/**
 * Adds up the costs of documents that are compiled together, per kind of record, and refuses documents above the limit.
 */
export class CostRoom {
  /** Costs of the accepted documents. */
  readonly costs = new Map<SigmaDocument, number>();
  /** Documents refused for their cost. */
  readonly refused = new Set<SigmaDocument>();
  readonly #most: number;
  readonly #budget: MeasureBudget | undefined;
  readonly #taken = new Map<RecordKind, number>();

  constructor(most: number, budget?: MeasureBudget) {
    this.#most = most;
    this.#budget = budget;
  }

  /**
   * Adds the cost of a document to the total of each kind of record that the document applies to. If a total would
   * exceed the limit, adds nothing and returns the reason.
   */
  take(
    document: SigmaDocument,
    kinds: readonly RecordKind[],
    costWithin: (room: number, budget?: MeasureBudget) => number,
  ): string | undefined {
    const left = (kind: RecordKind) => this.#most - (this.#taken.get(kind) ?? 0);
    const least = kinds.reduce((a, b) => (left(b) < left(a) ? b : a));
    const room = left(least);
    const cost = costWithin(room, this.#budget?.of.has(document) ? this.#budget : undefined);
    if (cost > room) {
      this.refused.add(document);
      this.costs.delete(document);
      return `costs at least ${cost} for a record of ${least}; all rules together may cost ${this.#most}, of which ${room} remain`;
    }
    for (const kind of kinds) this.#taken.set(kind, (this.#taken.get(kind) ?? 0) + cost);
    this.costs.set(document, cost + (this.costs.get(document) ?? 0));
    return undefined;
  }
}
