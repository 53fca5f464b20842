import type { Severity } from '../../contract/vocabulary.ts';
import { limits } from '../../limits.ts';
import { compileRule, type RuleFormula } from './compile-rule.ts';
import { linkCorrelations } from './correlation/link-correlations.ts';
import type { Feed, LinkedCorrelation, LinkedCorrelations } from './correlation/linked.ts';
import { keyFieldOf, keyOf, type Named } from './correlation/references.ts';
import { CostRoom, costOf, feedCost, type MeasureBudget } from './cost.ts';
import type {
  CorrelationDocument,
  FilterDocument,
  Logsource,
  Problem,
  RuleDocument,
  SigmaDocument,
} from './document.ts';
import { shown } from './fault.ts';
import { resolveField } from './fields/field.ts';
import { type AppliedFilter, applyFilter, filtered } from './filters.ts';
import type { Placeholders, Room } from './item.ts';
import { type CandidateRule, KindMatcher } from './kind-matcher.ts';
import { type Path, problemOf } from './problem.ts';
import type { Accessor, JsonObject, RecordKind } from './record.ts';

/** A refused document and the reason. */
interface RefusedDocument {
  readonly document: SigmaDocument;
  readonly problems: readonly Problem[];
}

/** The rules of one thread. A set keeps state while matching, and must not be shared by threads. */
export interface RuleSet {
  /** Rules in the order of their documents. */
  readonly rules: readonly CompiledRule[];
  readonly refused: readonly RefusedDocument[];
  /** Costs of rules and filters per record, as estimated by `costOf`; empty without `maxCost`. */
  readonly costs: ReadonlyMap<SigmaDocument, number>;
  /** Documents refused for their cost. */
  readonly tooCostly: ReadonlySet<SigmaDocument>;
  /** Correlations, each after the correlations that it names. */
  readonly correlations: readonly LinkedCorrelation[];
  /** Kinds of record that any rule uses. Other records need not be matched. */
  readonly kinds: ReadonlySet<RecordKind>;
  /** Calls `found` for each matching rule, in order. The callback MUST NOT match another record. */
  match(kind: RecordKind, record: JsonObject, found: (rule: CompiledRule) => void): void;
  /**
   * Returns the rule that takes longest for a record. Each rule is evaluated separately. Returns undefined if
   * no rule is evaluated.
   */
  slowest(kind: RecordKind, record: JsonObject): { readonly rule: CompiledRule; readonly ms: number } | undefined;
  /** Returns the accessor of a field, by any of its names, as used by inputs of correlations. */
  reader(kind: RecordKind, field: string): Accessor;
}

export interface CompileOptions {
  /** Values of `%name%` for the modifier `expand`. */
  readonly placeholders?: Placeholders;
  /** False to evaluate every rule for every record, with equal results. Tests compare the index with this reference. */
  readonly indexed?: boolean;
  /** Maximum total cost of rules and filters for one kind of record. Documents that exceed it are refused. */
  readonly maxCost?: number;
  /** Limits the time to measure the costs of some documents; unlimited by default. */
  readonly measureBudget?: MeasureBudget;
}

/**
 * Compiles documents together: rules, the filters that exclude records from the rules, and the correlations that name
 * the rules. A document that cannot be used is refused with its reasons, and so are the correlations that name it;
 * other documents are not affected.
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
    (rule): CandidateRule<CompiledRule> => ({
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

/** Maximum cached accessors: enough for 50 fields of 200 kinds of record. */
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
      ? [problemOf(document, [keyFieldOf(document)], `is ${shown(key)}, the same as in an earlier rule`)]
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
    const tooMuch = costs?.take(document, [...kinds], (left, budget) => costOf(applied.formula, left, budget));
    if (tooMuch === undefined) return [applied];
    refused.set(document, [problemOf(document, ['filter'], tooMuch)]);
    return [];
  });
}

/**
 * Links correlations. The fields that a correlation groups by and counts are only known after linking. If no record of
 * a rule has such a field, or the cost is too high, the correlation is refused, as are the correlations that name it.
 * The other correlations are then linked again.
 */
function link(
  documents: readonly SigmaDocument[],
  formulas: readonly RuleFormula[],
  refused: Refused,
  costs: CostRoom | undefined,
): LinkedCorrelations {
  const rules = documents.filter((document): document is RuleDocument => document.kind === 'rule');
  const correlations = documents.filter((document): document is CorrelationDocument => document.kind === 'correlation');
  const unavailable = new Map<Named, Problem>();
  for (const rule of rules) {
    const [problem] = refused.get(rule) ?? [];
    if (problem !== undefined) unavailable.set(rule, problem);
  }
  const first = linkCorrelations(rules, correlations, unavailable);
  const unanswered = unansweredFeeds(first, formulas, costs);
  const linked =
    unanswered.size === 0 ? first : linkCorrelations(rules, correlations, new Map([...unavailable, ...unanswered]));
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
      const reason = `needs ${shown(fields[lacking])}, which no record of the rule ${shown(document.title)} has`;
      unanswered.set(asking, problemOf(asking, askedAt(asking, lacking, document), reason));
    }
  }
  return unanswered;
}

/**
 * Returns the path at which a correlation names the nth field that it groups by or counts: in the list of
 * fields or in an alias.
 */
function askedAt({ groupBy, valueFields, aliases }: CorrelationDocument, nth: number, rule: RuleDocument): Path {
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
  asked: readonly CandidateRule<CompiledRule>[],
  indexed: boolean,
): Map<RecordKind, KindMatcher<CompiledRule>> {
  const byKind = new Map<RecordKind, CandidateRule<CompiledRule>[]>();
  for (const one of asked) {
    for (const kind of one.rule.kinds) {
      const its = byKind.get(kind);
      if (its === undefined) byKind.set(kind, [one]);
      else its.push(one);
    }
  }
  return new Map([...byKind].map(([kind, its]) => [kind, new KindMatcher(kind, its, indexed)]));
}

/** A rule that can be evaluated. */
export interface CompiledRule {
  /**
   * The id, otherwise the name, otherwise the title. Key for correlations and state, unique within the set.
   */
  readonly id: string;
  readonly title: string;
  /** Severity; `medium` if the rule has no level. */
  readonly level: Severity;
  readonly logsource: Logsource;
  readonly document: RuleDocument;
  /** The kinds of record to which the rule applies. */
  readonly kinds: readonly RecordKind[];
  /** Fields that no kind in `kinds` has. The parts of the rule with these fields never match. */
  readonly missingFields: readonly string[];
  /** Titles of the filters that exclude records from the rule. */
  readonly filters: readonly string[];
  /** True if a correlation that names the rule raises alerts instead. */
  readonly silent: boolean;
  /** Correlation inputs to create for a match. */
  readonly feeds: readonly Feed[];
}
