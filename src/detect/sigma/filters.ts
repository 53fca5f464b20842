import { itemProblems, type RuleFormula } from './compile-rule.ts';
import type { FilterDocument, Problem } from './document.ts';
import { reasonOr } from './fault.ts';
import { type Formula, filterFormula } from './formula.ts';
import type { Placeholders, Room } from './item.ts';
import { includesLogsource } from './logsource.ts';
import { type Path, problemOf } from './problem.ts';

/** A filter, and the rules to which it applies. */
export interface AppliedFilter {
  readonly document: FilterDocument;
  readonly formula: Formula;
  readonly rules: ReadonlySet<RuleFormula>;
}

/**
 * Finds the rules of a filter: the rules that the filter names, or all rules. In both cases, the log source of the
 * filter must include the log source of the rule. Returns a problem if there is no such rule.
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
      wanted === undefined || (id !== undefined && wanted.has(id)) || (name !== undefined && wanted.has(name)),
  );
  if (wanted !== undefined && named.length === 0) return refused(['filter', 'rules'], 'does not name an existing rule');
  const chosen = named.filter((rule) => includesLogsource(document.logsource, rule.document.logsource));
  if (chosen.length === 0) return refused(['logsource'], 'does not match any of its rules');
  return { document, formula, rules: new Set(chosen) };
}

/** Returns the formula of a rule with its filters. */
export function filtered(rule: RuleFormula, filters: readonly AppliedFilter[]): Formula {
  const its = filters.filter(({ rules }) => rules.has(rule));
  if (its.length === 0) return rule.formula;
  const taken = its.map(({ formula }): Formula => ({ kind: 'not', of: formula }));
  return { kind: 'and', of: [rule.formula, ...taken] };
}
