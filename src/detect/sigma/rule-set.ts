import { limits } from '../../limits.ts';
import { compileRule, type RuleFormula } from './compile-rule.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { linkCorrelations } from './correlation/link-correlations.ts';
import type { LinkedCorrelation, LinkedCorrelations } from './correlation/linked.ts';
import { keyFieldOf, keyOf, type Named } from './correlation/references.ts';
import { CostRoom, costOf, feedCost, type MeasureBudget } from './cost.ts';
import type {
  CorrelationDocument,
  FilterDocument,
  Problem,
  RuleDocument,
  SigmaDocument,
} from './document.ts';
import { shown } from './fault.ts';
import type { Path } from './field-name.ts';
import { resolveField } from './fields/field.ts';
import { type AppliedFilter, applyFilter, filtered } from './filters.ts';
import type { Placeholders, Room } from './item.ts';
import { type Asked, KindMatcher } from './kind-matcher.ts';
import { problemOf } from './problem.ts';
import type { Accessor, JsonObject, RecordKind } from './record.ts';

/** A document that is left out, and why. */
export interface RefusedDocument {
  readonly document: SigmaDocument;
  readonly problems: readonly Problem[];
}

/** Rules as one thread asks them; it keeps state while it matches, and is not for two threads. */
export interface RuleSet {
  /** In the order of their documents. */
  readonly rules: readonly CompiledRule[];
  readonly refused: readonly RefusedDocument[];
  /** Costs of rules and filters per record, by `costOf`; empty without `maxCost`. */
  readonly costs: ReadonlyMap<SigmaDocument, number>;
  /** Those that are refused for their cost. */
  readonly tooCostly: ReadonlySet<SigmaDocument>;
  /** Each after those that it names. */
  readonly correlations: readonly LinkedCorrelation[];
  /** Kinds of record that any rule looks at: others need not come. */
  readonly kinds: ReadonlySet<RecordKind>;
  /** Calls back for each rule that matches, in order of rules. The callback MUST NOT match another record. */
  match(kind: RecordKind, record: JsonObject, found: (rule: CompiledRule) => void): void;
  /** The rule that takes longest of a record, tried alone; undefined where none is tried. */
  slowest(
    kind: RecordKind,
    record: JsonObject,
  ): { readonly rule: CompiledRule; readonly ms: number } | undefined;
  /** How records of a kind are asked for a field by any of its names, as feeds of correlations do. */
  reader(kind: RecordKind, field: string): Accessor;
}

export interface CompileOptions {
  /** What `%name%` stands for where a rule says `expand`. */
  readonly placeholders?: Placeholders;
  /** False tries every rule of every record: it finds the same, and is what tests hold the index against. */
  readonly indexed?: boolean;
  /** The total cost of rules and filters for one kind of record. Documents that exceed it are refused. */
  readonly maxCost?: number;
  /** Limits the time to measure costs of some documents; by default there is no limit. */
  readonly measureBudget?: MeasureBudget;
}

/**
 * Compiles documents together: rules, what filters take away from them, and the correlations that name them. A document
 * that cannot be used here is refused with its reasons and doesn't stop others, except correlations that name it.
 */
export function compileRules(
  documents: readonly SigmaDocument[],
  { placeholders = new Map(), indexed = true, maxCost, measureBudget }: CompileOptions = {},
): RuleSet {
  const costs = maxCost === undefined ? undefined : new CostRoom(maxCost, measureBudget);
  const refused = new Map<SigmaDocument, readonly Problem[]>();
  const room = { left: limits.maxSigmaPlaceholderValues };
  const formulas = compileEach(documents, refused, placeholders, room, costs);
  const filters = applyEach(documents, formulas, refused, placeholders, room, costs);
  const linked = link(documents, formulas, refused, costs);
  const asked = formulas.map(
    (rule): Asked<CompiledRule> => ({
      formula: filtered(rule, filters),
      rule: compiledRule(rule, filters, linked),
    }),
  );
  const matchers = matchersOf(asked, indexed);
  const readers = new Map<string, Accessor>();
  return {
    rules: asked.map(({ rule }) => rule),
    costs: costs?.costs ?? new Map(),
    tooCostly: costs?.refused ?? new Set(),
    refused: documents.flatMap((document) => {
      const problems = refused.get(document);
      return problems === undefined ? [] : [{ document, problems }];
    }),
    correlations: linked.correlations,
    kinds: new Set(matchers.keys()),
    match: (kind, record, found) => matchers.get(kind)?.match(record, found),
    slowest: (kind, record) => matchers.get(kind)?.slowest(record),
    reader: (kind, field) => {
      const key = `${kind} ${field}`;
      const known = readers.get(key);
      if (known !== undefined) return known;
      const { read } = resolveField(kind, field);
      if (readers.size < maxReaders) readers.set(key, read);
      return read;
    },
  };
}

/** Of 50 fields of 200 kinds of record. */
const maxReaders = 10_000;

type Refused = Map<SigmaDocument, readonly Problem[]>;

function compileEach(
  documents: readonly SigmaDocument[],
  refused: Refused,
  placeholders: Placeholders,
  room: Room,
  costs: CostRoom | undefined,
): RuleFormula[] {
  const keys = new Set<string>();
  return documents.flatMap((document) => {
    if (document.kind !== 'rule') return [];
    const key = keyOf(document);
    const compiled = keys.has(key)
      ? [problemOf(document, [keyFieldOf(document)], `is ${shown(key)}, as that of a rule before it`)]
      : compileRule(document, placeholders, room);
    keys.add(key);
    if (!('formula' in compiled)) {
      refused.set(document, compiled);
      return [];
    }
    const { formula, kinds } = compiled;
    const tooMuch = costs?.take(document, kinds, (left, budget) => costOf(formula, left, budget));
    if (tooMuch === undefined) return [compiled];
    refused.set(document, [problemOf(document, ['detection'], tooMuch)]);
    return [];
  });
}

function applyEach(
  documents: readonly SigmaDocument[],
  rules: readonly RuleFormula[],
  refused: Refused,
  placeholders: Placeholders,
  room: Room,
  costs: CostRoom | undefined,
): AppliedFilter[] {
  return documents.flatMap((document) => {
    if (document.kind !== 'filter') return [];
    const applied = applyFilter(document satisfies FilterDocument, rules, placeholders, room);
    if (!('formula' in applied)) {
      refused.set(document, applied);
      return [];
    }
    const kinds = new Set([...applied.rules].flatMap((rule) => rule.kinds));
    const tooMuch = costs?.take(document, [...kinds], (left, budget) =>
      costOf(applied.formula, left, budget),
    );
    if (tooMuch === undefined) return [applied];
    refused.set(document, [problemOf(document, ['filter'], tooMuch)]);
    return [];
  });
}

/**
 * Links correlations twice: what a correlation groups by and counts is only known when it is linked, and where it asks a
 * rule for a field that none of its records has, or costs too much, it must go, and with it those that name it.
 */
function link(
  documents: readonly SigmaDocument[],
  formulas: readonly RuleFormula[],
  refused: Refused,
  costs: CostRoom | undefined,
): LinkedCorrelations {
  const rules = documents.filter((document): document is RuleDocument => document.kind === 'rule');
  const correlations = documents.filter(
    (document): document is CorrelationDocument => document.kind === 'correlation',
  );
  const unavailable = new Map<Named, Problem>();
  for (const rule of rules) {
    const [problem] = refused.get(rule) ?? [];
    if (problem !== undefined) unavailable.set(rule, problem);
  }
  const first = linkCorrelations(rules, correlations, unavailable);
  const unanswered = unansweredFeeds(first, formulas, costs);
  const linked =
    unanswered.size === 0
      ? first
      : linkCorrelations(rules, correlations, new Map([...unavailable, ...unanswered]));
  for (const { document, problems } of linked.refused) refused.set(document, problems);
  return linked;
}

function unansweredFeeds(
  linked: LinkedCorrelations,
  formulas: readonly RuleFormula[],
  costs: CostRoom | undefined,
): Map<Named, Problem> {
  const byKey = new Map(linked.correlations.map(({ key, document }) => [key, document]));
  const unanswered = new Map<Named, Problem>();
  for (const { document, kinds } of formulas) {
    for (const { correlation, group, value } of linked.feeds.get(document) ?? []) {
      const fields = [...group, ...value];
      const lacking = fields.findIndex((field) => !kinds.some((kind) => resolveField(kind, field).known));
      const asking = byKey.get(correlation);
      if (asking === undefined) continue;
      const tooMuch = costs?.take(asking, kinds, () => feedCost);
      if (tooMuch !== undefined) unanswered.set(asking, problemOf(asking, ['correlation', 'rules'], tooMuch));
      if (lacking < 0) continue;
      const reason = `asks for ${shown(fields[lacking])}, which no record of the rule ${shown(document.title)} has`;
      unanswered.set(asking, problemOf(asking, askedAt(asking, lacking, document), reason));
    }
  }
  return unanswered;
}

/** Where a correlation says which field of a rule it means by the nth that it groups by or counts: there, or in an alias. */
function askedAt(
  { groupBy, valueFields, aliases }: CorrelationDocument,
  nth: number,
  rule: RuleDocument,
): Path {
  const alias = [...groupBy, ...valueFields][nth]!;
  const ofRules = aliases.get(alias);
  const named = [rule.id, rule.name].find((name) => name !== undefined && ofRules?.has(name));
  if (named !== undefined) return ['correlation', 'aliases', alias, named];
  if (nth < groupBy.length) return ['correlation', 'group-by', nth];
  const field = ['correlation', 'condition', 'field'];
  return valueFields.length === 1 ? field : [...field, nth - groupBy.length];
}

function compiledRule(
  rule: RuleFormula,
  filters: readonly AppliedFilter[],
  { silent, feeds }: LinkedCorrelations,
): CompiledRule {
  const { document, kinds, missingFields } = rule;
  return {
    id: keyOf(document),
    title: document.title,
    level: document.level ?? 'medium',
    logsource: document.logsource,
    document,
    kinds,
    missingFields,
    filters: filters.filter(({ rules }) => rules.has(rule)).map((filter) => filter.document.title),
    silent: silent.has(document),
    feeds: feeds.get(document) ?? [],
  };
}

function matchersOf(
  asked: readonly Asked<CompiledRule>[],
  indexed: boolean,
): Map<RecordKind, KindMatcher<CompiledRule>> {
  const byKind = new Map<RecordKind, Asked<CompiledRule>[]>();
  for (const one of asked) {
    for (const kind of one.rule.kinds) {
      const its = byKind.get(kind);
      if (its === undefined) byKind.set(kind, [one]);
      else its.push(one);
    }
  }
  return new Map([...byKind].map(([kind, its]) => [kind, new KindMatcher(kind, its, indexed)]));
}
