import type { RequestHead } from './request.ts';

/**
 * Returns the weight of one name in `Accept` or `Accept-Encoding` (RFC 9110, section 12.4.2), from 0 to 1. A
 * name that is not listed literally, or has an invalid weight, has weight 0; ranges and wildcards are ignored.
 */
export function weightIn(list: string, wanted: string): number {
  for (const range of list.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (name !== wanted) continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    if (weight === undefined) return 1;
    const value = Number(weight.slice(2));
    return value >= 0 && value <= 1 ? value : 0;
  }
  return 0;
}

/**
 * Returns whether `Accept` names text/html with at least the weight of application/json. Wildcards are ignored.
 * Browsers request HTML when a user navigates; shippers never do.
 */
export function prefersPage({ headers }: Pick<RequestHead, 'headers'>): boolean {
  const accept = headers.get('accept');
  if (accept === undefined) return false;
  const page = weightIn(accept, 'text/html');
  return page > 0 && page >= weightIn(accept, 'application/json');
}
