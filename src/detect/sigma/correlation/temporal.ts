import type { CorrelationDocument } from '../document.ts';
import type { Counted, Measure, TypeCounting } from './measure.ts';
import type { Alternative } from './rule-condition.ts';
import { compileThreshold, isLowerBound } from './threshold.ts';
import { keepDifferent } from './trim.ts';

/** Counts the distinct rules in the window. */
class RulesPresent implements Measure {
  readonly #counts: number[];
  #different = 0;
  readonly #alternatives: readonly Alternative[] | undefined;
  readonly #meets: (n: number) => boolean;

  constructor(rules: number, alternatives: readonly Alternative[] | undefined, meets: (n: number) => boolean) {
    this.#counts = Array<number>(rules).fill(0);
    this.#alternatives = alternatives;
    this.#meets = meets;
  }

  add(rule: Counted): void {
    if (this.#counts[rule as number]!++ === 0) this.#different++;
  }

  remove(rule: Counted): void {
    this.#counts[rule as number]!--;
    if (this.#counts[rule as number] === 0) this.#different--;
  }

  /** Returns the number of distinct rules. */
  read(): number {
    return this.#different;
  }

  met(): boolean {
    if (this.#alternatives === undefined) return this.#meets(this.#different);
    const has = (rule: number) => this.#counts[rule]! > 0;
    return this.#alternatives.some(({ required, forbidden }) => required.every(has) && !forbidden.some(has));
  }
}

/** Minimum entries of a group: enough for a few alternating rules. */
const temporalEntries = 64;

/** Returns the number of entries that decide whether alternating rules meet the condition. */
export const enoughFor = (rules: number): number => Math.max(temporalEntries, 2 * rules);

/** Returns true if more matches never stop any of these alternatives from being met. */
export const isMonotone = (alternatives: readonly Alternative[]): boolean =>
  alternatives.every(({ forbidden }) => forbidden.length === 0);

/**
 * Requires all rules of the list, the number of rules in the threshold, or the rules of the condition, in any order.
 * `not` applies to the past: it holds if the rule has not matched in the timespan that ends with the input. A later
 * match does not withdraw the result.
 */
export function temporal(
  { threshold = {}, timespanMs, rules }: CorrelationDocument,
  alternatives: readonly Alternative[] | undefined,
): TypeCounting {
  const meets = compileThreshold(threshold);
  return {
    monotone: alternatives === undefined ? isLowerBound(threshold) : isMonotone(alternatives),
    enough: enoughFor(rules.length),
    trim: keepDifferent(timespanMs),
    measure: () => new RulesPresent(rules.length, alternatives, meets),
    counted: (_value, rule) => rule,
  };
}
