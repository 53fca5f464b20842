import { writeList } from '../../contract/json-list.ts';
import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { page } from '../reply.ts';

/** Every public key ever used, oldest first. */
export const listPublicKeys: Handler<'listPublicKeys'> = async ({ services, query }) => {
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  const keys = await services.ledger.keys();
  const shown = keys.slice((number - 1) * per_page, number * per_page);
  const items = shown.map((jwk) => JSON.stringify({ id: jwk.kid, type: 'public_key', attributes: jwk }));
  return page({ json: writeList(items), total: keys.length, page: number }, per_page);
};
