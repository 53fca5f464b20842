import { writeList } from '../../contract/json-list.ts';
import type { PublicJwk } from '../../ledger/ledger.ts';
import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { exportForm } from '../export-form.ts';
import { exportList } from '../export-list.ts';
import { page } from '../reply.ts';

/** Every public key ever used, oldest first. */
export const listPublicKeys: Handler<'listPublicKeys'> = async (context) => {
  const { services, query, head } = context;
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  const keys = await services.ledger.keys();
  const form = exportForm(head);
  if (form !== undefined)
    return exportList<number>(context, form, async (from = 0) => {
      const to = from + limits.maxPerPage;
      const bytes = writeList(keys.slice(from, to).map(keyItem), 'lines');
      return to < keys.length ? { bytes, next: to } : { bytes };
    });
  const shown = keys.slice((number - 1) * per_page, number * per_page);
  return page({ json: writeList(shown.map(keyItem)), total: keys.length, page: number }, per_page);
};

const keyItem = (jwk: PublicJwk): string =>
  JSON.stringify({ id: jwk.kid, type: 'public_key', attributes: jwk });
