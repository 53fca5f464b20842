import type { RequestHead } from './request.ts';

/**
 * How much a list of `Accept` or `Accept-Encoding` wants one name that it holds (RFC 9110, section 12.4.2): from 0, also
 * for a name that it does not hold, to 1. Ranges and wildcards name nothing.
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

/** Whether a page is wanted, and no less than JSON. Browsers name pages where somebody goes to one; shippers never do. */
export function prefersPage({ headers }: Pick<RequestHead, 'headers'>): boolean {
  const accept = headers.get('accept');
  if (accept === undefined) return false;
  const page = weightIn(accept, 'text/html');
  return page > 0 && page >= weightIn(accept, 'application/json');
}
