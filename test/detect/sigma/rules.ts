import type { SigmaDocument } from '../../../src/detect/sigma/document.ts';
import { parseSigma } from '../../../src/detect/sigma/parse-document.ts';
import type { JsonObject } from '../../../src/detect/sigma/record.ts';
import { type CompileOptions, compileRules, type RuleSet } from '../../../src/detect/sigma/rule-set.ts';

/** A rule as an object, whose JSON is also valid YAML. */
export type Rule = Readonly<Record<string, unknown>>;

export function ruleOf(detection: unknown, more: Rule = {}): Rule {
  return { title: 'Test', logsource: { product: 'zeek', service: 'test' }, detection, ...more };
}

/** @throws an error that lists all problems, if there are any */
export function parsed(...rules: readonly Rule[]): readonly SigmaDocument[] {
  const { documents, problems } = parseSigma(rules.map((rule) => JSON.stringify(rule)).join('\n---\n'));
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return documents;
}

export function compiled(rules: readonly Rule[], options?: CompileOptions): RuleSet {
  return compileRules(parsed(...rules), options);
}

/** Returns the titles of the rules that match. */
export function matches(set: RuleSet, kind: string, record: JsonObject): string[] {
  const found: string[] = [];
  set.match(kind, record, ({ title }) => found.push(title));
  return found;
}

/** Returns whether one search matches a record, with and without the index, which must agree. */
export function holds(search: unknown, record: JsonObject, options?: CompileOptions): boolean {
  const rules = [ruleOf({ selection: search, condition: 'selection' })];
  const [indexed, every] = [true, false].map((with_) => {
    const set = compiled(rules, { ...options, indexed: with_ });
    if (set.refused.length > 0) throw new Error(JSON.stringify(set.refused[0]!.problems));
    return matches(set, 'zeek.test', record).length === 1;
  });
  if (indexed !== every) throw new Error(`with the index ${indexed}, without ${every}`);
  return indexed!;
}

/** Returns the reasons why the parser or the compiler rejects a rule. */
export function reasonsOf(rule: Rule, options?: CompileOptions): string[] {
  const { documents, problems } = parseSigma(JSON.stringify(rule));
  const refused = compileRules(documents, options).refused.flatMap((one) => one.problems);
  return [...problems, ...refused].map(({ reason }) => reason);
}
