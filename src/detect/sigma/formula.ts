import { type Condition, type ConditionFault, parseCondition } from './condition.ts';
import type { FilterDocument, RuleDocument, Search } from './document.ts';
import { refuse } from './fault.ts';
import { type CompiledItem, compileItem, type Placeholders } from './item.ts';

/** The condition of a rule with the items of its searches, independent of the kind of record. */
export type Formula =
  | { readonly kind: 'item'; readonly item: CompiledItem }
  | { readonly kind: 'not'; readonly of: Formula }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Formula[] };

/**
 * Converts a rule's conditions to a formula.
 *
 * @throws RuleError for invalid modifiers and undefined placeholders
 */
export function formulaOf(
  { searches, conditions }: Pick<RuleDocument, 'searches' | 'conditions'>,
  placeholders: Placeholders,
): Formula {
  const compiled = new Map([...searches].map(([name, search]) => [name, ofSearch(search, placeholders)]));
  const names = [...searches.keys()];
  return either(
    conditions.map((text) => {
      const condition = parseCondition(text, names);
      return 'kind' in condition ? ofCondition(condition, compiled) : refuse(condition.reason);
    }),
  );
}

/**
 * Returns the formula for the records that a filter excludes from its rules. The filters of pySigma describe the
 * records that remain (`not sel_a and not sel_b`); the examples of the specification describe the records that are
 * excluded (`selection`). In both forms, a record that matches none of the searches remains. A condition that holds
 * for such a record therefore describes the records that remain.
 */
export function filterFormula(filter: FilterDocument, placeholders: Placeholders): Formula {
  const of = formulaOf(filter, placeholders);
  const names = [...filter.searches.keys()];
  const statesRest = filter.conditions.some((text) => holdsWithoutMatch(parseCondition(text, names)));
  return statesRest ? { kind: 'not', of } : of;
}

/** Returns true if a condition holds for a record that matches none of its searches. */
function holdsWithoutMatch(condition: Condition | ConditionFault): boolean {
  if (!('kind' in condition) || condition.kind === 'search') return false;
  if (condition.kind === 'not') return !holdsWithoutMatch(condition.of);
  return condition.kind === 'and' ? condition.of.every(holdsWithoutMatch) : condition.of.some(holdsWithoutMatch);
}

function ofSearch({ alternatives }: Search, placeholders: Placeholders): Formula {
  return either(
    alternatives.map((items) => {
      const of = items.map((item): Formula => ({ kind: 'item', item: compileItem(item, placeholders) }));
      return of.length === 1 ? of[0]! : { kind: 'and', of };
    }),
  );
}

function ofCondition(condition: Condition, searches: ReadonlyMap<string, Formula>): Formula {
  switch (condition.kind) {
    case 'search':
      return searches.get(condition.name)!;
    case 'not':
      return { kind: 'not', of: ofCondition(condition.of, searches) };
    default:
      return { kind: condition.kind, of: condition.of.map((part) => ofCondition(part, searches)) };
  }
}

function either(of: readonly Formula[]): Formula {
  return of.length === 1 ? of[0]! : { kind: 'or', of };
}

/** Returns every field of a formula, including referenced fields. */
export function fieldsOf(formula: Formula): readonly string[] {
  switch (formula.kind) {
    case 'item': {
      const { field, values } = formula.item;
      const others = values.flat().flatMap((test) => (test.kind === 'field' ? [test.name] : []));
      return field === undefined ? others : [field, ...others];
    }
    case 'not':
      return fieldsOf(formula.of);
    default:
      return formula.of.flatMap(fieldsOf);
  }
}

/**
 * Returns the result of a formula in records without some fields: true or false if the other fields do not
 * matter, otherwise undefined.
 */
export function settled(formula: Formula, lacks: (field: string) => boolean): boolean | undefined {
  switch (formula.kind) {
    case 'item':
      return settledItem(formula.item, lacks);
    case 'not': {
      const of = settled(formula.of, lacks);
      return of === undefined ? undefined : !of;
    }
    default: {
      const deciding = formula.kind === 'or';
      const results = formula.of.map((part) => settled(part, lacks));
      if (results.includes(deciding)) return deciding;
      return results.includes(undefined) ? undefined : !deciding;
    }
  }
}

function settledItem(
  { field, negated, all, values }: CompiledItem,
  lacks: (field: string) => boolean,
): boolean | undefined {
  if (field === undefined) return undefined;
  const results = values.map((tests) => {
    const ways = tests.map((test) => {
      if (test.kind === 'field' && lacks(test.name)) return false;
      if (!lacks(field)) return undefined;
      return test.kind === 'null' || (test.kind === 'exists' && !test.wanted);
    });
    return ways.includes(true) ? true : ways.includes(undefined) ? undefined : false;
  });
  if (negated) return lacks(field) ? false : undefined;
  const deciding = !all;
  if (results.includes(deciding)) return deciding;
  return results.includes(undefined) ? undefined : !deciding;
}
