import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { principalAttributes } from '../principal-reads.ts';
import { page } from '../reply.ts';

export const listPrincipals: Handler<'listPrincipals'> = ({ services, query }) => {
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  const { principals, total } = services.reader.listPrincipals(number, per_page);
  const items = principals.map((principal) => ({
    id: principal.id,
    type: 'principal',
    attributes: principalAttributes(principal),
  }));
  return page({ json: new TextEncoder().encode(JSON.stringify(items)), total, page: number }, per_page);
};
