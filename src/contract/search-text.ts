import { invalidField } from '../errors.ts';

/** Quotes a text so that it is searched for literally. Plain names need no quotes. */
export const asSearchText = (text: string): string => (/^[\w.-]*$/.test(text) ? text : `"${text}"`);

/**
 * Returns the text that `q` searches for. Query language syntax is rejected with a hint, because searching for it as
 * text would only return an empty result.
 *
 * @param filters - names of the filter parameters of the same list
 */
export function searchText(q: string, filters: readonly string[]): string {
  const quoted = /^\s*"(.+)"\s*$/s.exec(q)?.[1];
  if (quoted !== undefined) return quoted;
  const fault = syntaxIn(q, filters);
  if (fault === undefined) return q;
  throw invalidField('q', `${fault}, or put the text in double quotes to search for it literally`);
}

const foreignOperator = /(?:^|\s)(&&?|\|\|?)\s/;

/** Returns whether the filter of a host name has syntax of other query languages, which would match nothing. */
export const hasForeignSyntax = (pattern: string): boolean =>
  /(?:^|\s)(?:AND|OR|NOT)\s/.test(pattern) || foreignOperator.test(pattern) || /[?"]|^%|%$|^\/.*\/$/.test(pattern);

function syntaxIn(q: string, filters: readonly string[]): string | undefined {
  const [, operator] = /(?:^|\s)(AND|OR|NOT)\s/.exec(q) ?? [];
  if (operator !== undefined)
    return `has no operator ${operator}: combine filters (different ones are AND, a repeated one is OR, not_<filter> is NOT)`;
  for (const [, field = ''] of q.matchAll(/(?:^|[\s(+-])([a-z][a-z_]*)\s*[:=<>]/g))
    if (filters.includes(field)) return `does not filter by ${field}: use the parameter ${field}`;
  const [, sign] = foreignOperator.exec(q) ?? [];
  if (sign !== undefined)
    return `has no operator ${sign}: combine filters (different ones are AND, a repeated one is OR)`;
  if (/^%.*%$/.test(q)) return 'does not support wildcards: leave out %, substrings match anyway';
  if (/^\/.*[\\^$*+?()[\]{}|].*\/$/.test(q)) return 'does not support regular expressions';
  if (q.includes('*')) return 'does not support wildcards: leave out *, substrings match anyway';
  return q.includes('"') ? 'has a double quote: leave it out' : undefined;
}
