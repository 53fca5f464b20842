import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
} from 'yaml';
import { limits } from '../../limits.ts';
import type { Problem } from './document.ts';
import { shown } from './fault.ts';
import { fieldName, type Path } from './problem.ts';

/** One document of a text, as plain data. */
export interface YamlDocument {
  /** The content. Mappings are objects without a prototype, so that `__proto__` and `constructor` are ordinary keys. */
  readonly content: unknown;
  /** First line of the document, from 1. */
  readonly line: number;
  /** Lines of the fields selected by `keepsLine`, by `fieldName`. */
  readonly lines: ReadonlyMap<string, number>;
  /** Returns the line of a path, or of its nearest existing ancestor. */
  readonly at: (path: Path) => number;
  readonly problems: readonly Problem[];
}

/**
 * Reads the documents of a YAML 1.2 text (core schema: no dates, no `yes`), separated by `---`. A broken document has
 * problems and does not affect the other documents. Aliases are expanded within limits, so that nested aliases cannot
 * exhaust the memory. Only this file uses the `yaml` package.
 *
 * @param keepsLine - selects the fields for `lines`
 */
export function readYaml(text: string, keepsLine: (path: Path) => boolean): readonly YamlDocument[] {
  if (text.length > limits.maxSigmaTextLength)
    return [broken(1, 1, `is longer than ${limits.maxSigmaTextLength} characters`)];
  const lines = new LineCounter();
  // The package's own search for duplicate keys is not used, because it takes 10 s for a map of 15,000 keys.
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
    schema: 'core',
    version: '1.2',
  });
  const documents = Array.isArray(parsed) ? parsed : [];
  const lineOf = (offset: number) => Math.max(1, lines.linePos(offset).line);
  const read = documents
    .slice(0, limits.maxSigmaDocuments)
    .map((document) => readDocument(document, lineOf, keepsLine));
  const next = documents[limits.maxSigmaDocuments];
  if (next === undefined) return read.filter(({ content, problems }) => content !== null || problems.length > 0);
  const line = lineOf(next.range[0]);
  return [...read, broken(line, line, `exceeds the maximum of ${limits.maxSigmaDocuments} documents in a text`)];
}

/** Creates a document without content. The only problem is on line `at`, which may differ from the first line. */
function broken(line: number, at: number, reason: string): YamlDocument {
  const problems = [{ line: at, field: '', reason }];
  return { content: undefined, line, lines: new Map(), at: () => line, problems };
}

function readDocument(
  document: Document.Parsed,
  lineOf: (offset: number) => number,
  keepsLine: (path: Path) => boolean,
): YamlDocument {
  const line = lineOf(document.contents?.range?.[0] ?? document.range[0]);
  const fault = syntaxFault(document);
  if (fault !== undefined) return broken(line, lineOf(fault.offset), fault.reason);
  const reader = new Reader(document, lineOf, keepsLine);
  const content = reader.read(document.contents, [], 0);
  return {
    content,
    line,
    lines: reader.lines,
    at: (path) => lineOf(offsetOf(document, path) ?? document.range[0]),
    problems: reader.problems,
  };
}

interface SyntaxFault {
  readonly offset: number;
  readonly reason: string;
}

/**
 * Returns the first fault found by the package, at its position. Two kinds of fault are moved to their cause, because
 * the package reports a later position. A line with too much indentation counts as part of the preceding text up to its
 * colon. An unclosed quotation mark extends to the end.
 */
function syntaxFault(document: Document.Parsed): SyntaxFault | undefined {
  const [first, second] = [...document.errors, ...document.warnings];
  if (first === undefined) return undefined;
  const [offset] = first.pos;
  if (first.code === 'BLOCK_AS_IMPLICIT_KEY' && second?.code === 'MULTILINE_IMPLICIT_KEY' && second.pos[0] === offset)
    return { offset: second.pos[1] - 1, reason: syntax.get('BAD_INDENT')! };
  const quote = first.code === 'MISSING_CHAR' ? quoteUntil(document, offset) : undefined;
  if (quote !== undefined) return { offset: quote, reason: 'opens a quotation mark that is not closed' };
  return { offset, reason: syntax.get(first.code) ?? 'is not YAML' };
}

/** Returns the start of the quoted text that extends to `end`. */
function quoteUntil(document: Document.Parsed, end: number): number | undefined {
  let node: unknown = document.contents;
  while (isMap(node) || isSeq(node)) {
    const last: unknown = node.items.at(-1);
    if (isPair<Node, Node | null>(last)) node = (last.value?.range?.[0] ?? end) < end ? last.value : last.key;
    else node = last;
  }
  if (!isScalar(node) || node.range?.[1] !== end) return undefined;
  return node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE' ? node.range[0] : undefined;
}

/** Reasons for the package's common error codes. */
const syntax: ReadonlyMap<string, string> = new Map([
  ['BAD_INDENT', 'is indented inconsistently'],
  ['TAB_AS_INDENT', 'is indented with a tab'],
  ['MULTILINE_IMPLICIT_KEY', 'is a key that spans several lines'],
  ['MISSING_CHAR', 'is missing a character: a colon, a quotation mark or a bracket'],
  ['BLOCK_AS_IMPLICIT_KEY', 'has a mapping where a key was expected'],
  ['BAD_DQ_ESCAPE', 'has an unknown escape sequence in double quotes'],
  ['BAD_ALIAS', 'has an invalid alias'],
  ['TAG_RESOLVE_FAILED', 'has a type tag, which is not supported'],
  ['UNEXPECTED_TOKEN', 'has an unexpected token'],
  ['RESOURCE_EXHAUSTION', 'is nested too deeply'],
]);

/** Converts nodes to plain data, within limits. */
class Reader {
  readonly problems: Problem[] = [];
  readonly lines = new Map<string, number>();
  readonly #document: Document.Parsed;
  readonly #lineOf: (offset: number) => number;
  readonly #keepsLine: (path: Path) => boolean;
  #nodes = 0;

  constructor(document: Document.Parsed, lineOf: (offset: number) => number, keepsLine: (path: Path) => boolean) {
    this.#document = document;
    this.#lineOf = lineOf;
    this.#keepsLine = keepsLine;
  }

  read(node: Node | null | undefined, path: Path, depth: number): unknown {
    if (node === null || node === undefined) return null;
    if (this.#full) return undefined;
    if (++this.#nodes > limits.maxSigmaNodes)
      return this.#problem(node, path, `contains more than ${limits.maxSigmaNodes} values, or repeats them by aliases`);
    if (depth > limits.maxSigmaNesting) return this.#problem(node, path, `nests deeper than ${limits.maxSigmaNesting}`);
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      if (target === undefined)
        return this.#problem(node, path, `has the alias ${shown(node.source)} without an anchor`);
      return this.read(target, path, depth + 1);
    }
    if (isScalar(node)) return this.#scalar(node.value, node, path);
    if (isSeq(node)) return node.items.map((item, at) => this.#part(item as Node, item as Node, [...path, at], depth));
    if (!isMap(node)) return this.#problem(node, path, 'is neither a value, a list nor a mapping');
    const mapping: Record<string, unknown> = Object.create(null);
    for (const { key, value } of node.items) {
      if (this.#full) break;
      const name = isScalar(key) ? this.#scalar(key.value, key, path) : undefined;
      if (name === undefined || name === null)
        this.#problem((key as Node | null) ?? node, path, 'has a key that is not a text');
      else if (Object.hasOwn(mapping, String(name)))
        this.#problem(key as Node, [...path, String(name)], 'occurs twice');
      else mapping[String(name)] = this.#part(key as Node, value as Node, [...path, String(name)], depth);
    }
    return mapping;
  }

  #part(place: Node, node: Node, path: Path, depth: number): unknown {
    if (this.#keepsLine(path)) this.lines.set(fieldName(path), this.#lineOf(place.range?.[0] ?? 0));
    return this.read(node, path, depth + 1);
  }

  /** Returns a scalar as plain data. Infinite numbers and NaN become texts. */
  #scalar(value: unknown, node: Node, path: Path): string | number | boolean | null | undefined {
    if (typeof value === 'string') return value.toWellFormed();
    if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
    return this.#problem(node, path, 'is a value that is neither text, number, true, false nor null');
  }

  get #full(): boolean {
    return this.#nodes > limits.maxSigmaNodes || this.problems.length >= limits.maxSigmaProblems;
  }

  #problem(node: Node, path: Path, reason: string): undefined {
    this.problems.push({ line: this.#lineOf(node.range?.[0] ?? 0), field: fieldName(path), reason });
  }
}

/**
 * Returns the offset of a path, or of its nearest existing ancestor. For keys, this is the offset of the key itself,
 * because users look for the key.
 */
function offsetOf(document: Document.Parsed, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0];
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isSeq(node) && typeof part === 'number') {
      node = node.items[part];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      if (pair === undefined) return offset;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else return offset;
  }
  return offset;
}
