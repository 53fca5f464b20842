import { decodeQuery } from '../contract/query.ts';
import { type WholeListForm, wholeListTypes } from '../contract/whole-list.ts';
import { invalidField } from '../errors.ts';
import { weightIn } from './accept.ts';
import type { RequestHead } from './request.ts';

/**
 * Returns the export form with the highest weight in `Accept` (RFC 9110, section 12.5.1). Returns undefined, which
 * means a JSON page, if `Accept` names no export form or gives JSON a higher weight; ranges of types are ignored.
 *
 * @throws INVALID_REQUEST for paging parameters, which an export does not have
 */
export function exportForm({ headers, query }: Pick<RequestHead, 'headers' | 'query'>): WholeListForm | undefined {
  const accept = headers.get('accept');
  if (accept === undefined) return undefined;
  let form: WholeListForm | undefined;
  let most = weightIn(accept, 'application/json');
  for (const one of ['lines', 'arrow'] as const) {
    const weight = weightIn(accept, wholeListTypes[one]);
    // On equal weights, NDJSON is preferred, because more clients can read it.
    if (weight === 0 || weight < most || (form !== undefined && weight === most)) continue;
    form = one;
    most = weight;
  }
  if (form === undefined) return undefined;
  const given = decodeQuery(query);
  for (const parameter of ['page', 'per_page', 'cursor'])
    if (given.has(parameter))
      throw invalidField(parameter, `cannot be used with ${wholeListTypes[form]}, which returns the whole list`);
  return form;
}
