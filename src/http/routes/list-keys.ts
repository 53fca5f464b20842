import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { page } from '../reply.ts';

/** Oldest first, as in the key set. A year makes five hundred: all of them are read for each page. */
export const listKeys: Handler<'listKeys'> = async ({ services, query }) => {
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  const keys = await services.ledger.keyRecords();
  const start = (number - 1) * per_page;
  const items = keys
    .slice(start, start + per_page)
    .map((key) => ({ id: key.kid, type: 'key', attributes: key }));
  const json = new TextEncoder().encode(JSON.stringify(items));
  return page({ json, total: keys.length, page: number }, per_page);
};
