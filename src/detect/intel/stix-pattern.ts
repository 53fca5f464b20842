import { limits } from '../../limits.ts';

/** One comparison of a pattern. */
export type Comparison = { readonly value: string } | { readonly unsupported: string };

/** Object paths whose values are matched against events. */
const supportedPaths: ReadonlySet<string> = new Set([
  'ipv4-addr:value',
  'ipv6-addr:value',
  'domain-name:value',
  'url:value',
]);

/**
 * Parses a pattern (STIX 2.1, section 9) of alternative comparisons: `[a = 'x' OR b = 'y'] OR [c IN ('z', 'w')]`.
 * Returns the reason for rejecting a pattern that is invalid, or that requires several comparisons to match together.
 */
export function parsePattern(pattern: string): readonly Comparison[] | { readonly reason: string } {
  if (pattern.length > limits.maxIntelPatternLength)
    return { reason: `has a pattern longer than ${limits.maxIntelPatternLength} characters` };
  const tokens = tokensOf(pattern);
  if (tokens === undefined) return { reason: 'is not a valid STIX pattern' };
  const found: Comparison[] = [];
  let at = 0;
  let depth = 0;
  let inside = false;
  let wantsOperand = true;
  const next = () => tokens[at++];
  for (let token = next(); token !== undefined; token = next()) {
    if (token.kind === 'string') return { reason: 'is not a valid STIX pattern' };
    const { text } = token;
    if (text === '[' || text === ']') {
      if (inside === (text === '[') || (text === '[') !== wantsOperand || (text === ']' && depth > 0))
        return { reason: 'is not a valid STIX pattern' };
      inside = !inside;
    } else if (text === '(') {
      if (!wantsOperand) return { reason: 'is not a valid STIX pattern' };
      if (!inside) return { reason: 'groups observations, which is not supported' };
      depth++;
    } else if (text === ')') {
      if (--depth < 0 || wantsOperand) return { reason: 'is not a valid STIX pattern' };
    } else if (text.toUpperCase() === 'OR') {
      if (wantsOperand) return { reason: 'is not a valid STIX pattern' };
      wantsOperand = true;
    } else if (wantsOperand && inside && text.includes(':')) {
      const values = valuesOf(text, tokens, at);
      if ('reason' in values) return values;
      for (const comparison of values.comparisons) found.push(comparison);
      at = values.next;
      wantsOperand = false;
    } else return { reason: `has ${text.slice(0, 40)}, which is not supported` };
  }
  if (inside || depth > 0 || wantsOperand) return { reason: 'is not a valid STIX pattern' };
  return found;
}

/**
 * Maximum characters of a path. Supported paths have fewer than 20 characters. The reason for rejecting another path
 * shows its first 80 characters.
 */
const longestPath = 200;

interface Token {
  readonly kind: 'word' | 'string';
  readonly text: string;
}

/**
 * Parses one comparison after its path; a quoted part such as in `file:hashes.'SHA-256'` belongs to the path.
 */
function valuesOf(
  begun: string,
  tokens: readonly Token[],
  start: number,
): { readonly comparisons: readonly Comparison[]; readonly next: number } | { readonly reason: string } {
  let at = start;
  let path = begun;
  while (path.length < longestPath && path.endsWith('.') && tokens[at]?.kind === 'string') path += tokens[at++]!.text;
  const after = tokens[at++];
  if (after?.kind === 'word' && (after.text === '[' || after.text.startsWith('.')))
    return { reason: `uses ${after.text === '[' ? 'an index' : 'a key'} in a path, which is not supported` };
  if (after?.kind !== 'word' || '[](),'.includes(after.text)) return { reason: 'is not a valid STIX pattern' };
  const operator = after.text.toUpperCase();
  const values: string[] = [];
  if (operator === 'IN') {
    if (tokens[at++]?.text !== '(') return { reason: 'is not a valid STIX pattern' };
    for (;;) {
      const value = tokens[at++];
      if (value === undefined) return { reason: 'is not a valid STIX pattern' };
      values.push(value.text);
      const behind = tokens[at++]?.text;
      if (behind === ')') break;
      if (behind !== ',') return { reason: 'is not a valid STIX pattern' };
    }
  } else if (operator === '=' || operator === 'ISSUBSET') {
    const value = tokens[at++];
    if (value === undefined) return { reason: 'is not a valid STIX pattern' };
    values.push(value.text);
  } else return { reason: `compares with ${operator.slice(0, 40)}, which is not supported` };
  const comparisons: Comparison[] = supportedPaths.has(path)
    ? values.map((value) => ({ value }))
    : [{ unsupported: `uses ${path.slice(0, 80)}, which events do not contain` }];
  return { comparisons, next: at };
}

const lexeme = /\s*(?:'((?:[^'\\]|\\.)*)'|([[\](),=])|([^\s[\](),='<>!]+|[<>!]=?))/sy;

/**
 * Splits a pattern into tokens; undefined for invalid tokens. Takes linear time: each character is read once
 * or twice.
 */
function tokensOf(pattern: string): Token[] | undefined {
  const tokens: Token[] = [];
  const text = pattern.trim();
  for (let at = 0; at < text.length; at = lexeme.lastIndex) {
    lexeme.lastIndex = at;
    const match = lexeme.exec(text);
    if (match === null) return undefined;
    const [, quoted, mark, word] = match;
    if (quoted === undefined) tokens.push({ kind: 'word', text: (mark ?? word)! });
    else tokens.push({ kind: 'string', text: quoted.replaceAll(/\\(.)/gs, '$1') });
  }
  return tokens;
}
