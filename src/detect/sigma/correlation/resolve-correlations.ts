import { searchesOf } from '../condition.ts';
import type { CorrelationDocument, Problem } from '../document.ts';
import { shown } from '../fault.ts';
import { type Path, problemOf } from '../problem.ts';
import type { CorrelationLimits } from './correlation-limits.ts';
import { keyFieldOf, keyOf, type Named, type References } from './references.ts';
import { type Alternative, alternativesOf, parseRuleCondition } from './rule-condition.ts';

/** A correlation and the documents that it names, in the order in which it names them. */
export interface Resolved {
  readonly document: CorrelationDocument;
  readonly rules: readonly Named[];
  readonly alternatives: readonly Alternative[] | undefined;
  /** Field by alias and document. */
  readonly aliases: ReadonlyMap<string, ReadonlyMap<Named, string>>;
}

const rulesOf: Path = ['correlation', 'rules'];

type Refused = Map<CorrelationDocument, readonly Problem[]>;

/**
 * Resolves the names in correlations. Returns the correlations that can run, each after the correlations that it names,
 * and the problems of the other correlations: unknown and ambiguous names, cycles, and problems of a rule or an inner
 * correlation.
 *
 * @param unavailable - rules and correlations that do not run, each with its problem
 */
export function resolveCorrelations(
  correlations: readonly CorrelationDocument[],
  references: References,
  unavailable: ReadonlyMap<Named, Problem>,
  limits: CorrelationLimits,
): {
  readonly ordered: readonly Resolved[];
  readonly refused: ReadonlyMap<CorrelationDocument, readonly Problem[]>;
} {
  const ordered: Resolved[] = [];
  const refused: Refused = new Map(repeatedKeys(correlations));
  let waiting = correlations.filter((document) => !refused.has(document));
  for (let level = 0; level < limits.depth && waiting.length > 0; level++) {
    const unsettled = new Set<Named>(waiting);
    const ready = waiting.filter((document) => !innerOf(document, references).some((one) => unsettled.has(one)));
    for (const document of ready) {
      const resolved = resolve(document, references, unavailable, refused, limits);
      if ('alternatives' in resolved) ordered.push(resolved);
      else refused.set(document, resolved);
    }
    const settled = new Set(ready);
    waiting = waiting.filter((document) => !settled.has(document));
  }
  for (const document of waiting) refused.set(document, [whyWaiting(document, references, limits)]);
  return { ordered, refused };
}

function innerOf(document: CorrelationDocument, references: References): CorrelationDocument[] {
  const named = document.rules.map((name) => references.find(name));
  return named.filter((one) => typeof one !== 'string' && one.kind === 'correlation') as CorrelationDocument[];
}

/**
 * Returns correlations with a repeated key. The key identifies state and inputs: among several correlations
 * with one key, only the first runs.
 */
function repeatedKeys(correlations: readonly CorrelationDocument[]): [CorrelationDocument, readonly Problem[]][] {
  const keys = new Set<string>();
  const refused: [CorrelationDocument, readonly Problem[]][] = [];
  for (const document of correlations) {
    const key = keyOf(document);
    const reason = `is ${shown(key)}, which an earlier correlation already uses`;
    if (keys.has(key)) refused.push([document, [problemOf(document, [keyFieldOf(document)], reason)]]);
    keys.add(key);
  }
  return refused;
}

/**
 * Returns why a correlation was not resolved: it is in a cycle, depends on a cycle, or has too many levels.
 */
function whyWaiting(document: CorrelationDocument, references: References, limits: CorrelationLimits): Problem {
  const cameFrom = new Map<CorrelationDocument, CorrelationDocument>();
  const queue = [document];
  for (const one of queue) {
    for (const inner of innerOf(one, references)) {
      if (!cameFrom.has(inner)) {
        cameFrom.set(inner, one);
        queue.push(inner);
      }
    }
  }
  const circle = [document];
  for (let at = cameFrom.get(document); at !== undefined && at !== document; at = cameFrom.get(at)) circle.unshift(at);
  if (!cameFrom.has(document)) {
    const reason = `names correlations through more than ${limits.depth} levels, or in a cycle`;
    return problemOf(document, rulesOf, reason);
  }
  const first = document.rules.findIndex((name) => references.find(name) === circle[0]);
  const names = [document, ...circle].map((one) => shown(keyOf(one)));
  return problemOf(document, [...rulesOf, first], `names itself: ${names.join(' → ')}`);
}

function resolve(
  document: CorrelationDocument,
  references: References,
  unavailable: ReadonlyMap<Named, Problem>,
  refused: Refused,
  limits: CorrelationLimits,
): Resolved | readonly Problem[] {
  const problems: Problem[] = [];
  const refuse: Refuse = (path, reason) => void problems.push(problemOf(document, ['correlation', ...path], reason));
  const rules: Named[] = [];
  const own = unavailable.get(document);
  if (own !== undefined) problems.push(own);
  for (const [at, name] of document.rules.entries()) {
    const named = references.find(name);
    if (typeof named === 'string') {
      refuse(['rules', at], named);
      continue;
    }
    const [inner] = named.kind === 'correlation' ? (refused.get(named) ?? []) : [];
    const problem = unavailable.get(named) ?? inner;
    if (problem !== undefined) refuse(['rules', at], `${shown(name)} does not run: ${problem.reason}`);
    else if (rules.includes(named)) refuse(['rules', at], `${shown(name)} names a rule that is already in the list`);
    else rules.push(named);
  }
  if (problems.length > 0) return problems;

  const place = (name: string) => {
    const named = references.find(name);
    return typeof named === 'string' ? -1 : rules.indexOf(named);
  };
  const aliases = resolveAliases(document, rules, place, refuse);
  const alternatives = resolveCondition(document, namesOf(rules), place, refuse, limits);
  return problems.length > 0 ? problems : { document, rules, alternatives, aliases };
}

/** Reports that the value at a path within the section is refused. */
type Refuse = (path: Path, reason: string) => void;

function resolveAliases(
  document: CorrelationDocument,
  rules: readonly Named[],
  place: (name: string) => number,
  refuse: Refuse,
): Map<string, Map<Named, string>> {
  const aliases = new Map<string, Map<Named, string>>();
  for (const [alias, fields] of document.aliases) {
    const resolved = new Map<Named, string>();
    for (const [name, field] of fields) {
      const rule = rules[place(name)];
      if (rule === undefined) refuse(['aliases', alias, name], `${shown(name)} is not a rule of the correlation`);
      else resolved.set(rule, field);
    }
    aliases.set(alias, resolved);
  }
  return aliases;
}

/**
 * Returns the alternatives of a temporal correlation; undefined for other types, and if the condition is invalid. A
 * correlation without a threshold requires all rules.
 */
function resolveCondition(
  { type, condition, threshold, rules }: CorrelationDocument,
  known: readonly string[],
  place: (name: string) => number,
  refuse: Refuse,
  limits: CorrelationLimits,
): readonly Alternative[] | undefined {
  if (type !== 'temporal' && type !== 'temporal_ordered') return;
  if (condition !== undefined) return resolveExpression(condition, known, place, refuse, limits);
  const all = rules.map((_, i) => i);
  if (threshold === undefined) return [{ required: all, forbidden: [] }];
  if (type === 'temporal') return;
  const least = Math.max(1, threshold.eq ?? 0, threshold.gte ?? 0, (threshold.gt ?? 0) + 1);
  const choices = choose(all, least, limits.alternatives);
  if (choices === undefined) {
    refuse(['condition'], `${least} of ${all.length} rules have more than ${limits.alternatives} combinations`);
  }
  return choices?.map((required) => ({ required, forbidden: [] }));
}

function resolveExpression(
  condition: string,
  known: readonly string[],
  place: (name: string) => number,
  refuse: Refuse,
  limits: CorrelationLimits,
): readonly Alternative[] | undefined {
  const parsed = parseRuleCondition(condition, known);
  if (typeof parsed === 'string') return void refuse(['condition'], parsed);
  const strangers = [...new Set(searchesOf(parsed))].filter((name) => place(name) < 0);
  for (const name of strangers) refuse(['condition'], `${shown(name)} is not a rule of the correlation`);
  if (strangers.length > 0) return;
  const alternatives = alternativesOf(parsed, place, limits.alternatives);
  if (alternatives === undefined) refuse(['condition'], `expands to more than ${limits.alternatives} alternatives`);
  else if (alternatives.length === 0) refuse(['condition'], 'can never be met');
  else if (alternatives.some(({ required }) => required.length === 0)) {
    refuse(['condition'], 'is met when no rule has matched, which cannot be detected');
  }
  return alternatives;
}

function namesOf(rules: readonly Named[]): string[] {
  return rules.flatMap(({ id, name }) => [id, name]).filter((one) => one !== undefined);
}

/**
 * Returns all ways to choose `count` of the items, in their order; undefined if there are more than `max`.
 */
function choose(items: readonly number[], count: number, max: number): readonly number[][] | undefined {
  let choices: number[][] = [[]];
  for (const [i, item] of items.entries()) {
    const left = items.length - i;
    choices = choices.flatMap((chosen) => {
      const missing = count - chosen.length;
      const without = missing < left ? [chosen] : [];
      return missing > 0 ? [[...chosen, item], ...without] : [chosen];
    });
    if (choices.length > max) return;
  }
  return choices;
}
