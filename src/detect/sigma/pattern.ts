import { limits } from '../../limits.ts';

/** One part of a pattern: literal characters, `?` for any single character, or `*` for any number of characters. */
export type Token = string | typeof one | typeof many;
export const one: unique symbol = Symbol('?');
export const many: unique symbol = Symbol('*');

/**
 * Parses a value with wildcards (Sigma rules 2.1.0, "escaping"): a backslash escapes `*`, `?` and another
 * backslash, and is literal before other characters. Adjacent literals are one token.
 */
export function parsePattern(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let literal = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === '\\' && '*?\\'.includes(text[at + 1] ?? ' ')) literal += text[++at];
    else if (char !== '*' && char !== '?') literal += char;
    else {
      if (literal !== '') tokens.push(literal);
      literal = '';
      if (char === '*') tokens.push(many);
      else tokens.push(one);
    }
  }
  if (literal !== '') tokens.push(literal);
  return simplified(tokens);
}

/** Returns the pattern as text. Equal patterns have equal texts. */
export function patternSource(tokens: readonly Token[]): string {
  const written = (token: Token): string => {
    if (token === one) return '?';
    return token === many ? '*' : token.replace(/[\\*?]/g, '\\$&');
  };
  return tokens.map(written).join('');
}

/** Allows any characters before the pattern, after it, or both. */
export function widened(tokens: readonly Token[], before: boolean, after: boolean): readonly Token[] {
  return simplified([...(before ? star : []), ...tokens, ...(after ? star : [])]);
}

const star: readonly Token[] = [many];

/** Merges adjacent stars. */
function simplified(tokens: readonly Token[]): readonly Token[] {
  return tokens.filter((token, at) => token !== many || tokens[at - 1] !== many);
}

/** Returns the text of the tokens; undefined if the tokens contain wildcards. */
export function literalOf(tokens: readonly Token[]): string | undefined {
  const [only, ...more] = tokens;
  if (only === undefined) return '';
  return typeof only === 'string' && more.length === 0 ? only : undefined;
}

/** Applies a function, such as folding, to every literal. */
export function mapLiterals(tokens: readonly Token[], change: (literal: string) => string): readonly Token[] {
  return tokens.map((token) => (typeof token === 'string' ? change(token) : token));
}

/**
 * Returns a function that matches whole texts. Prefixes, suffixes and substrings use built-in string methods. For other
 * patterns, the parts between `*` wildcards are found one after another, each at its first possible position, because
 * the text after a star may begin at any later position. Searching for a part with `?` takes time proportional to the
 * length of the text times the length of the part, so only the beginning of very long texts is matched in this case.
 */
export function patternMatcher(tokens: readonly Token[]): (text: string) => boolean {
  const literal = literalOf(tokens);
  if (literal !== undefined) return (text) => text === literal;
  const [a, b, c] = tokens;
  if (tokens.length === 1 && a === many) return () => true;
  if (tokens.length === 2 && a === many && typeof b === 'string') return (text) => text.endsWith(b);
  if (tokens.length === 2 && typeof a === 'string' && b === many) return (text) => text.startsWith(a);
  if (tokens.length === 3 && a === many && typeof b === 'string' && c === many) return (text) => text.includes(b);
  return globMatcher(tokens);
}

function globMatcher(tokens: readonly Token[]): (text: string) => boolean {
  const parts = splitAtStars(tokens).map((part) => new Part(part));
  const first = parts[0]!;
  const last = parts.at(-1)!;
  const middle = parts.slice(1, -1);
  const bounded = tokens.includes(one);
  const matches = (text: string): boolean => {
    if (parts.length === 1) return text.length === first.length && first.isAt(text, 0);
    if (!first.isAt(text, 0)) return false;
    let at = first.length;
    for (const part of middle) {
      const found = part.find(text, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    const end = text.length - last.length;
    return end >= at && last.isAt(text, end);
  };
  if (!bounded) return matches;
  return (text) => matches(text.length > limits.maxRegexTextLength ? text.slice(0, limits.maxRegexTextLength) : text);
}

function splitAtStars(tokens: readonly Token[]): (readonly (string | typeof one)[])[] {
  const parts: (string | typeof one)[][] = [[]];
  for (const token of tokens) {
    if (token === many) parts.push([]);
    else parts.at(-1)!.push(token);
  }
  return parts;
}

/** The part between two stars: characters, possibly including `?`. */
class Part {
  readonly length: number;
  readonly #tokens: readonly (string | typeof one)[];
  readonly #literal: string | undefined;

  constructor(tokens: readonly (string | typeof one)[]) {
    this.#tokens = tokens;
    this.#literal = literalOf(tokens);
    this.length = tokens.reduce<number>((sum, token) => sum + (token === one ? 1 : token.length), 0);
  }

  isAt(text: string, start: number): boolean {
    if (start < 0 || start + this.length > text.length) return false;
    let at = start;
    for (const token of this.#tokens) {
      if (token === one) at++;
      else if (text.startsWith(token, at)) at += token.length;
      else return false;
    }
    return true;
  }

  find(text: string, from: number): number {
    if (this.#literal !== undefined) return text.indexOf(this.#literal, from);
    const end = text.length - this.length;
    for (let at = from; at <= end; at++) if (this.isAt(text, at)) return at;
    return -1;
  }
}
