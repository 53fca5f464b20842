import { limits } from '../../limits.ts';
import { Check, typeName } from './check.ts';
import { parseCorrelation } from './correlation/parse-correlation.ts';
import { readDetection } from './detection.ts';
import type { CorrelationDocument, FilterDocument, Head, Problem, RuleDocument, SigmaDocument } from './document.ts';
import { readHead, readLogsource } from './head.ts';
import { expansionRoom, type Room } from './item.ts';
import { keepsLine } from './problem.ts';
import { isObject, type JsonObject } from './record.ts';
import { readYaml, type YamlDocument } from './yaml-text.ts';

/** The documents and problems of a text. A broken document has problems, and does not affect the other documents. */
export interface ParsedText {
  readonly documents: readonly SigmaDocument[];
  readonly problems: readonly Problem[];
}

/**
 * Parses the rules, correlations and filters of a YAML text (Sigma 2.1.0). Any text is accepted: its faults
 * are returned as problems, at most `limits.maxSigmaProblems`.
 */
export function parseSigma(text: string): ParsedText {
  const documents: SigmaDocument[] = [];
  const problems: Problem[] = [];
  const read = readYaml(text, keepsLine);
  const expansion = expansionRoom();
  if (read.length === 0) problems.push({ line: 1, field: '', reason: 'contains no document' });
  for (const document of read) {
    const result = document.problems.length > 0 ? document.problems : readDocument(document, expansion);
    if (Array.isArray(result)) problems.push(...result);
    else documents.push(result as SigmaDocument);
  }
  return { documents, problems: problems.slice(0, limits.maxSigmaProblems) };
}

function readDocument(yaml: YamlDocument, expansion: Room): SigmaDocument | readonly Problem[] {
  const { content } = yaml;
  const check = new Check(yaml.at, expansion);
  if (!isObject(content)) {
    check.problem([], `is ${typeName(content)}, not a mapping`);
    return check.problems;
  }
  if (content.action !== undefined) check.problem(['action'], sigmaOneAction);
  const kind = kindOf(content);
  if (kind === undefined) check.problem([], 'must have exactly one of detection, correlation and filter');
  const head = readHead(content, yaml, check);
  const document = kind === undefined ? undefined : readers[kind](content, head, check);
  return check.problems.length > 0 || document === undefined ? check.problems : document;
}

const sigmaOneAction =
  'is an attribute of Sigma 1 for sharing the first document of a file; repeat the shared attributes in each document';

const kinds = ['detection', 'correlation', 'filter'] as const;
type Kind = (typeof kinds)[number];

function kindOf(content: JsonObject): Kind | undefined {
  const [kind, ...more] = kinds.filter((one) => content[one] !== undefined);
  return more.length === 0 ? kind : undefined;
}

/** Readers by kind of document. Each reader reports its problems even if the head is invalid. */
const readers: Readonly<
  Record<Kind, (content: JsonObject, head: Head | undefined, check: Check) => SigmaDocument | undefined>
> = { detection: readRule, correlation: readCorrelation, filter: readFilter };

function readRule(content: JsonObject, head: Head | undefined, check: Check): RuleDocument | undefined {
  const logsource = readLogsource(content.logsource, check);
  const section = check.required(check.mapping(content.detection, ['detection']), content.detection, ['detection']);
  const detection = section === undefined ? undefined : readDetection(section, ['detection'], [], check);
  if (head === undefined || logsource === undefined || detection === undefined) return undefined;
  return { ...head, kind: 'rule', logsource, ...detection };
}

function readFilter(content: JsonObject, head: Head | undefined, check: Check): FilterDocument | undefined {
  const logsource = readLogsource(content.logsource, check);
  const section = check.required(check.mapping(content.filter, ['filter']), content.filter, ['filter']);
  if (section === undefined) return undefined;
  const path = ['filter', 'rules'];
  // `any` is defined in the specification's next version and public rules already use it.
  const any = section.rules === 'any';
  const rules = any ? undefined : check.texts(check.required(section.rules, section.rules, path), path, 256);
  if (rules?.length === 0 && Array.isArray(section.rules)) check.problem(path, 'names no rule');
  const detection = readDetection(section, ['filter'], ['rules'], check);
  if (head === undefined || logsource === undefined || detection === undefined) return undefined;
  return { ...head, kind: 'filter', logsource, rules, ...detection };
}

function readCorrelation(content: JsonObject, head: Head | undefined, check: Check): CorrelationDocument | undefined {
  const at = (path: readonly (string | number)[]) => check.at(['correlation', ...path]);
  const { generate } = content;
  if (generate !== undefined && typeof generate !== 'boolean') check.problem(['generate'], 'must be true or false');
  const section = parseCorrelation(content.correlation, at, generate === true);
  if (Array.isArray(section)) {
    check.problems.push(...(section as readonly Problem[]));
    return undefined;
  }
  if (head === undefined) return undefined;
  return { ...head, kind: 'correlation', ...(section as Exclude<typeof section, readonly Problem[]>) };
}
