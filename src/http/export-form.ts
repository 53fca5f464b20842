import { decodeQuery } from '../contract/query.ts';
import { type WholeListForm, wholeListTypes } from '../contract/whole-list.ts';
import { invalidField } from '../errors.ts';
import { weightIn } from './accept.ts';
import type { RequestHead } from './request.ts';

/**
 * The form in which a list is wanted whole: the one that `Accept` names and wants most, unless it wants JSON more
 * (RFC 9110, section 12.5.1). Ranges of types mean the usual page.
 *
 * @throws INVALID_REQUEST for parameters that choose a page, of which there are none then.
 */
export function exportForm({
  headers,
  query,
}: Pick<RequestHead, 'headers' | 'query'>): WholeListForm | undefined {
  const accept = headers.get('accept');
  if (accept === undefined) return undefined;
  let form: WholeListForm | undefined;
  let most = weightIn(accept, 'application/json');
  for (const one of ['lines', 'arrow'] as const) {
    const weight = weightIn(accept, wholeListTypes[one]);
    // Of two that are wanted alike, lines are what more can read.
    if (weight === 0 || weight < most || (form !== undefined && weight === most)) continue;
    form = one;
    most = weight;
  }
  if (form === undefined) return undefined;
  const given = decodeQuery(query);
  for (const parameter of ['page', 'per_page', 'cursor'])
    if (given.has(parameter))
      throw invalidField(parameter, `is not for ${wholeListTypes[form]}, which is the whole list`);
  return form;
}
