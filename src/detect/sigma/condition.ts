import { limits } from '../../limits.ts';
import { shown } from './fault.ts';

/** A parsed condition, with `1 of x*` and `all of them` expanded. */
export type Condition =
  | { readonly kind: 'search'; readonly name: string }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Condition[] };

/** The reason why an expression is invalid, and the position, in characters from 1. */
export interface ConditionFault {
  readonly at: number;
  readonly reason: string;
}

/**
 * Parses a condition (Sigma rules 2.1.0, "condition"); operators by ascending precedence:
 *
 *     or  and  not  `1 of`, `all of`  ( )
 *
 * `them` means all search identifiers without a leading underscore. `*` in a pattern matches any characters.
 * Aggregations of Sigma 1 (`| count() by …`, `near`) are not supported, because correlation rules replace them.
 *
 * @param names - the defined search identifiers
 */
export function parseCondition(text: string, names: readonly string[]): Condition | ConditionFault {
  const aggregation = /\||\b(?:count|min|max|avg|sum)\s*\(|\bnear\b/i.exec(text);
  if (aggregation !== null) return { at: aggregation.index + 1, reason: aggregationAdvice };
  try {
    return new Parser(tokens(text), names).parse();
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    return { at: error.at + 1, reason: error.message };
  }
}

/** Advice in the error for rules with an aggregation of Sigma 1. */
export const aggregationAdvice =
  'uses an aggregation of Sigma 1: keep the search as a rule, and add a correlation rule that names it';

class ConditionError extends Error {
  readonly at: number;
  constructor(at: number, reason: string) {
    super(reason);
    this.at = at;
  }
}

interface Token {
  readonly text: string;
  readonly at: number;
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  for (const match of text.matchAll(/[()]|[^\s()]+/g)) {
    if (found.length === limits.maxSigmaConditionParts)
      throw new ConditionError(match.index, `has more than ${limits.maxSigmaConditionParts} words`);
    found.push({ text: match[0], at: match.index });
  }
  found.push({ text: '', at: text.length });
  return found;
}

const keywords = new Set(['and', 'or', 'not', 'of', 'them']);

/** Parser with one method per rule of the grammar, in the order of precedence. */
class Parser {
  readonly #tokens: readonly Token[];
  readonly #names: readonly string[];
  #next = 0;
  #depth = 0;
  #parts = 0;

  constructor(tokens: readonly Token[], names: readonly string[]) {
    this.#tokens = tokens;
    this.#names = names;
  }

  parse(): Condition {
    const condition = this.#either();
    const rest = this.#token;
    if (rest.text === ')') throw new ConditionError(rest.at, 'closes a parenthesis that was not opened');
    if (rest.text !== '') throw new ConditionError(rest.at, `has ${shown(rest.text)} where 'and' or 'or' was expected`);
    return condition;
  }

  #either(): Condition {
    return this.#list('or', () => this.#list('and', () => this.#negation()));
  }

  #list(kind: 'and' | 'or', part: () => Condition): Condition {
    const of = [part()];
    while (this.#take(kind)) of.push(part());
    return of.length === 1 ? of[0]! : { kind, of };
  }

  #negation(): Condition {
    let negated = false;
    while (this.#take('not')) negated = !negated;
    const of = this.#operand();
    return negated ? { kind: 'not', of } : of;
  }

  #operand(): Condition {
    const { text, at } = this.#token;
    if (text === '') throw new ConditionError(at, 'ends where a search identifier was expected');
    if (this.#take('(')) {
      if (++this.#depth > limits.maxSigmaNesting)
        throw new ConditionError(at, `has more than ${limits.maxSigmaNesting} nested parentheses`);
      const inside = this.#either();
      if (!this.#take(')')) throw new ConditionError(at, 'opens a parenthesis that is not closed');
      this.#depth--;
      return inside;
    }
    if (this.#peek(1).text.toLowerCase() === 'of') return this.#quantified();
    if (text === ')' || keywords.has(text.toLowerCase()))
      throw new ConditionError(at, `has ${shown(text)} where a search identifier was expected`);
    if (!this.#names.includes(text))
      throw new ConditionError(at, `names ${shown(text)}, which is not a search identifier`);
    this.#next++;
    return { kind: 'search', name: text };
  }

  #quantified(): Condition {
    const { text: quantifier, at } = this.#token;
    const kind = quantifiers.get(quantifier.toLowerCase());
    if (kind === undefined)
      throw new ConditionError(at, `has ${shown(`${quantifier} of`)}, which is neither '1 of' nor 'all of'`);
    this.#next += 2;
    const { text: pattern, at: patternAt } = this.#token;
    if (pattern === '' || pattern === '(' || pattern === ')')
      throw new ConditionError(patternAt, `has no search identifier after ${shown(`${quantifier} of`)}`);
    this.#next++;
    const matches = pattern.toLowerCase() === 'them' ? isNotHidden : glob(pattern);
    const of = this.#names.filter(matches).map((name) => ({ kind: 'search', name }) as const);
    this.#parts += of.length;
    if (this.#parts > limits.maxSigmaConditionParts)
      throw new ConditionError(at, `expands to more than ${limits.maxSigmaConditionParts} searches`);
    if (of.length === 0)
      throw new ConditionError(patternAt, `has ${shown(pattern)}, which matches no search identifier`);
    return of.length === 1 ? of[0]! : { kind, of };
  }

  #take(word: string): boolean {
    const found = this.#token.text.toLowerCase() === word;
    if (found) this.#next++;
    return found;
  }

  get #token(): Token {
    return this.#tokens[this.#next]!;
  }

  #peek(ahead: number): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!;
  }
}

const quantifiers: ReadonlyMap<string, 'and' | 'or'> = new Map([
  ['1', 'or'],
  ['all', 'and'],
]);

const isNotHidden = (name: string): boolean => !name.startsWith('_');

/**
 * Returns a function that tests names against the pattern. Names and patterns are short and have few stars,
 * so each part is searched in turn.
 */
function glob(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return name.length - last.length >= at && name.endsWith(last);
  };
}

/** Returns the search identifiers in a condition. */
export function searchesOf(condition: Condition): string[] {
  switch (condition.kind) {
    case 'search':
      return [condition.name];
    case 'not':
      return searchesOf(condition.of);
    default:
      return condition.of.flatMap(searchesOf);
  }
}
