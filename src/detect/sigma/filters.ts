import { itemProblems, type RuleFormula } from './compile-rule.ts';
import type { FilterDocument, Problem } from './document.ts';
import { reasonOr } from './fault.ts';
import type { Path } from './field-name.ts';
import { type Formula, filterFormula } from './formula.ts';
import type { Placeholders, Room } from './item.ts';
import { includesLogsource } from './logsource.ts';
import { problemOf } from './problem.ts';

/** A filter, and the rules that it takes something away from. */
export interface AppliedFilter {
  readonly document: FilterDocument;
  readonly formula: Formula;
  readonly rules: ReadonlySet<RuleFormula>;
}

/**
 * Finds the rules of a filter: those that it names by id or name, or all, as far as they are for the log source that the
 * filter is for. One that is for none of the rules that there are has a problem.
 */
export function applyFilter(
  document: FilterDocument,
  rules: readonly RuleFormula[],
  placeholders: Placeholders,
  room: Room,
): AppliedFilter | readonly Problem[] {
  const refused = (field: Path, reason: string): readonly Problem[] => [problemOf(document, field, reason)];
  const problems = itemProblems('filter', document.searches, placeholders, room);
  if (problems.length > 0) return problems;
  const formula = reasonOr(() => filterFormula(document, placeholders));
  if ('reason' in formula) return refused(['filter'], formula.reason);
  const wanted = document.rules === undefined ? undefined : new Set(document.rules);
  const named = rules.filter(
    ({ document: { id, name } }) =>
      wanted === undefined ||
      (id !== undefined && wanted.has(id)) ||
      (name !== undefined && wanted.has(name)),
  );
  if (named.length === 0) return refused(['filter', 'rules'], 'names no rule that is there');
  const chosen = named.filter((rule) => includesLogsource(document.logsource, rule.document.logsource));
  if (chosen.length === 0) return refused(['logsource'], 'is that of none of its rules');
  return { document, formula, rules: new Set(chosen) };
}

/** What is left of a rule. */
export function filtered(rule: RuleFormula, filters: readonly AppliedFilter[]): Formula {
  const its = filters.filter(({ rules }) => rules.has(rule));
  if (its.length === 0) return rule.formula;
  const taken = its.map(({ formula }): Formula => ({ kind: 'not', of: formula }));
  return { kind: 'and', of: [rule.formula, ...taken] };
}
