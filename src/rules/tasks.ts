import { packCorrelations, type RuleParts, unpackRules } from '../detect/packed-rules.ts';
import type { Problem, SigmaDocument } from '../detect/sigma/document.ts';
import { parseSigma } from '../detect/sigma/parse-document.ts';
import { compileRules } from '../detect/sigma/rule-set.ts';
import { limits } from '../limits.ts';
import type { StoreReader } from '../store/store.ts';
import { type FolderContent, readRuleFolder } from './rule-folder.ts';
import { type RuleTest, type TestQuery, testRules } from './rule-test.ts';

/** The parsed text of one document, or its problems. */
export interface ParsedRule {
  readonly document?: SigmaDocument;
  /** Problems of the text. Lines are counted from 1 in this text. */
  readonly problems: readonly Problem[];
}

/** The result of compiling documents together. Documents are identified by their indices. */
export interface Compiled {
  readonly refused: readonly (readonly [at: number, problems: readonly Problem[]])[];
  /**
   * Fields that a rule uses, but that no record of the rule has, so that conditions on these fields never hold.
   */
  readonly missing: readonly (readonly [at: number, fields: readonly string[]])[];
  /** The cost of each accepted document that has a cost. */
  readonly costs: readonly (readonly [at: number, cost: number])[];
  /** Rules that were refused for their cost. */
  readonly tooCostly: readonly number[];
  /** Correlations, encoded by `packCorrelations`. */
  readonly correlations: Uint8Array;
}

/**
 * Tasks about rules. They have a separate thread, because they take longer than HTTP requests and queries can
 * wait.
 */
export function ruleTasks(reader: Pick<StoreReader, 'blocks'>, cancelled: () => boolean = () => false) {
  return {
    readRuleFolder: (folder: string): FolderContent | undefined => readRuleFolder(folder),
    parseRules: (texts: readonly string[]): ParsedRule[] => texts.map(parseOne),
    compileRules: (packed: SharedArrayBuffer): Compiled => compileAll(unpackRules(packed)),
    /**
     * Compiles documents together. The first `inEffect` documents are in effect; the other documents are to be
     * validated.
     */
    validateRules: ({ packed, inEffect }: { readonly packed: SharedArrayBuffer; readonly inEffect: number }) =>
      compileAll(unpackRules(packed), inEffect),
    testRules: (query: TestQuery): RuleTest => testRules(reader, query, cancelled),
  };
}

export type RuleTasks = ReturnType<typeof ruleTasks>;

function parseOne(text: string): ParsedRule {
  const { documents, problems } = parseSigma(text);
  const [document, ...others] = documents;
  if (others.length > 0)
    return {
      problems: [{ line: others[0]!.line, field: '', reason: 'begins a second document; only one is allowed' }],
    };
  if (document === undefined || problems.length > 0) return { problems };
  return { document, problems };
}

function compileAll({ documents, placeholders }: RuleParts, inEffect = documents.length): Compiled {
  const places = new Map<SigmaDocument, number>(documents.map((document, at) => [document, at]));
  const { maxRuleCost: maxCost } = limits;
  const { rules, refused, costs, tooCostly, correlations } = compileRules(documents, {
    placeholders,
    maxCost,
    measureBudget: { of: new Set(documents.slice(inEffect)), ms: limits.ruleMeasureMs },
  });
  return {
    costs: Array.from(costs, ([document, cost]) => [places.get(document)!, cost] as const),
    refused: refused.map(({ document, problems }) => [places.get(document)!, problems] as const),
    missing: rules
      .filter(({ missingFields }) => missingFields.length > 0)
      .map(({ document, missingFields }) => [places.get(document)!, missingFields] as const),
    tooCostly: Array.from(tooCostly, (document) => places.get(document)!),
    correlations: packCorrelations(correlations),
  };
}
