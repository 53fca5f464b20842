import { limits } from '../../limits.ts';
import type { Problem, RuleDocument, Search } from './document.ts';
import { reasonOr, refuse, shown } from './fault.ts';
import { resolveField } from './fields/field.ts';
import { type Formula, fieldsOf, formulaOf, settled } from './formula.ts';
import { compileItem, type Placeholders, type Room } from './item.ts';
import { route } from './logsource.ts';
import { fieldName, problemOf } from './problem.ts';
import type { RecordKind } from './record.ts';

/** A rule before filters and correlations are applied. */
export interface RuleFormula {
  readonly document: RuleDocument;
  readonly formula: Formula;
  readonly kinds: readonly RecordKind[];
  readonly missingFields: readonly string[];
}

/**
 * Compiles a rule and determines the kinds of record that it applies to. Returns problems if the rule is invalid or
 * applies to no kind of record.
 */
export function compileRule(
  document: RuleDocument,
  placeholders: Placeholders,
  room: Room,
): RuleFormula | readonly Problem[] {
  const refused = (field: string, reason: string): readonly Problem[] => [problemOf(document, [field], reason)];
  if (document.status === 'unsupported')
    return refused('status', 'is unsupported: the rule cannot be used in its current state');
  const routed = route(document.logsource);
  if ('reason' in routed) return refused('logsource', routed.reason);
  const problems = itemProblems('detection', document.searches, placeholders, room);
  if (problems.length > 0) return problems;
  const formula = reasonOr(() => formulaOf(document, placeholders));
  if ('reason' in formula) return refused('detection', formula.reason);
  const fields = [...new Set(fieldsOf(formula))];
  const kinds = [
    ...routed.kinds.filter((kind) => canAnswer(kind, formula)),
    ...routed.standIns.filter((kind) => fields.every((field) => has(kind, field)) && canAnswer(kind, formula)),
  ];
  const all = [...routed.kinds, ...routed.standIns];
  if (kinds.length === 0) return refused('detection', whyNot(fields, all));
  const missingFields = fields.filter((field) => !kinds.some((kind) => has(kind, field)));
  return { document, formula, kinds, missingFields };
}

/**
 * Returns the problems of items that depend on placeholders. The values of placeholders count as if they were written
 * in the document, and reduce `room`.
 */
export function itemProblems(
  section: 'detection' | 'filter',
  searches: ReadonlyMap<string, Search>,
  placeholders: Placeholders,
  room: Room,
): readonly Problem[] {
  let values = 0;
  return [...searches].flatMap(([name, { alternatives }]) =>
    alternatives.flat().flatMap((item): Problem[] => {
      if (!item.modifiers.includes('expand')) return [];
      const compiled = reasonOr(() => {
        const compiled = compileItem(item, placeholders);
        const { length } = compiled.values.flat();
        if (values + length > limits.maxSigmaNodes)
          refuse(`has placeholders that expand the document to more than ${limits.maxSigmaNodes} values`);
        if (length > room.left)
          refuse(
            `has placeholders that expand all rules together to more than ${limits.maxSigmaPlaceholderValues} values`,
          );
        values += length;
        room.left -= length;
        return compiled;
      });
      if (!('reason' in compiled)) return [];
      const field = fieldName([section, name, [item.field ?? '', ...item.modifiers].join('|')]);
      return [{ line: item.line, field, reason: compiled.reason }];
    }),
  );
}

function has(kind: RecordKind, field: string): boolean {
  return resolveField(kind, field).known;
}

/** Returns false if missing fields would make the formula never match, or match everything. */
function canAnswer(kind: RecordKind, formula: Formula): boolean {
  return settled(formula, (field) => !has(kind, field)) === undefined;
}

function whyNot(fields: readonly string[], kinds: readonly RecordKind[]): string {
  const lacking = fields.filter((field) => !kinds.some((kind) => has(kind, field)));
  const records = kinds.length > 4 ? 'the records of its log source' : `records of ${kinds.join(', ')}`;
  if (lacking.length > 0) return `needs ${listed(lacking)}, which ${records} do not have`;
  return `needs ${listed(fields)}, which do not occur together in any of ${records}`;
}

function listed(fields: readonly string[]): string {
  const names = fields.slice(0, 5).map((field) => shown(field));
  return fields.length > 5 ? `${names.join(', ')} and ${fields.length - 5} more fields` : names.join(', ');
}
