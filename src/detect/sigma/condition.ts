import { limits } from '../../limits.ts';
import { shown } from './fault.ts';

/** What a condition says, with `1 of x*` and `all of them` spelt out. */
export type Condition =
  | { readonly kind: 'search'; readonly name: string }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Condition[] };

/** Why an expression is none, and where: characters count from 1. */
export interface ConditionFault {
  readonly at: number;
  readonly reason: string;
}

/**
 * Parses a condition (Sigma rules 2.1.0, "condition"), from the least to the most binding:
 *
 *     or  and  not  `1 of`, `all of`  ( )
 *
 * `them` are all search identifiers that don't begin with an underscore; in a pattern `*` stands for any characters.
 * Nothing else is there to count with: what counted in Sigma 1 (`| count() by …`, `near`) is a correlation rule now.
 *
 * @param names - the search identifiers that there are
 */
export function parseCondition(text: string, names: readonly string[]): Condition | ConditionFault {
  const aggregation = /\||\b(?:count|min|max|avg|sum)\s*\(|\bnear\b/i.exec(text);
  if (aggregation !== null) return { at: aggregation.index + 1, reason: aggregationAdvice };
  try {
    return new Parser(tokens(text), names).parse();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { at: error.at + 1, reason: error.message };
  }
}

/** What is said wherever a rule counts as in Sigma 1. */
export const aggregationAdvice =
  'counts as Sigma 1 did: keep what it looks for as a rule, and write a correlation rule that names it';

class Fault extends Error {
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
      throw new Fault(match.index, `has more than ${limits.maxSigmaConditionParts} words`);
    found.push({ text: match[0], at: match.index });
  }
  found.push({ text: '', at: text.length });
  return found;
}

const keywords = new Set(['and', 'or', 'not', 'of', 'them']);

/** One method a rule of the grammar, which is that of precedence. */
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
    if (rest.text === ')') throw new Fault(rest.at, 'closes a parenthesis that was not opened');
    if (rest.text !== '')
      throw new Fault(rest.at, `has ${shown(rest.text)} where 'and' or 'or' was expected`);
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
    if (text === '') throw new Fault(at, 'ends where a search identifier was expected');
    if (this.#take('(')) {
      if (++this.#depth > limits.maxSigmaNesting)
        throw new Fault(at, `has more than ${limits.maxSigmaNesting} parentheses in each other`);
      const inside = this.#either();
      if (!this.#take(')')) throw new Fault(at, 'opens a parenthesis that is not closed');
      this.#depth--;
      return inside;
    }
    if (this.#peek(1).text.toLowerCase() === 'of') return this.#quantified();
    if (text === ')' || keywords.has(text.toLowerCase()))
      throw new Fault(at, `has ${shown(text)} where a search identifier was expected`);
    if (!this.#names.includes(text))
      throw new Fault(at, `names ${shown(text)}, which is no search identifier`);
    this.#next++;
    return { kind: 'search', name: text };
  }

  #quantified(): Condition {
    const { text: quantifier, at } = this.#token;
    const kind = quantifiers.get(quantifier.toLowerCase());
    if (kind === undefined)
      throw new Fault(at, `has ${shown(`${quantifier} of`)}, which is neither '1 of' nor 'all of'`);
    this.#next += 2;
    const { text: pattern, at: patternAt } = this.#token;
    if (pattern === '' || pattern === '(' || pattern === ')')
      throw new Fault(
        patternAt,
        `has nothing after ${shown(`${quantifier} of`)} that names search identifiers`,
      );
    this.#next++;
    const matches = pattern.toLowerCase() === 'them' ? isNotHidden : glob(pattern);
    const of = this.#names.filter(matches).map((name) => ({ kind: 'search', name }) as const);
    this.#parts += of.length;
    if (this.#parts > limits.maxSigmaConditionParts)
      throw new Fault(at, `stands for more than ${limits.maxSigmaConditionParts} searches`);
    if (of.length === 0)
      throw new Fault(patternAt, `has ${shown(pattern)}, which no search identifier is like`);
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

/** Whether a name is like the pattern. Names and patterns are short, and stars few: each is looked for in turn. */
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

/** The search identifiers that a condition asks. */
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
