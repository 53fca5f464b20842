import { decodeQuery } from '../contract/query.ts';
import { invalidField } from '../errors.ts';
import { linesMediaType } from './reply.ts';
import type { RequestHead } from './request.ts';

/**
 * Whether a list is wanted whole, an item a line: where `Accept` names NDJSON, and JSON not as what it wants more
 * (RFC 9110, section 12.5.1). Ranges of types mean the usual page.
 *
 * @throws INVALID_REQUEST for parameters that choose a page, of which there are none then.
 */
export function wantsLines({ headers, query }: Pick<RequestHead, 'headers' | 'query'>): boolean {
  const accept = headers.get('accept');
  if (accept === undefined) return false;
  const lines = weightIn(accept, linesMediaType);
  if (lines === 0 || lines < weightIn(accept, 'application/json')) return false;
  const given = decodeQuery(query);
  for (const parameter of ['page', 'per_page', 'cursor'])
    if (given.has(parameter))
      throw invalidField(parameter, `is not for ${linesMediaType}, which is the whole list`);
  return true;
}

/** From 0, also for a type that is not named, to 1. */
function weightIn(accept: string, mediaType: string): number {
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (name !== mediaType) continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    if (weight === undefined) return 1;
    const value = Number(weight.slice(2));
    return value >= 0 && value <= 1 ? value : 0;
  }
  return 0;
}
