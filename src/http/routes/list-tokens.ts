import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { page } from '../reply.ts';
import { tokenAttributes } from '../token-reads.ts';

export const listTokens: Handler<'listTokens'> = ({ services, query }) => {
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  const { tokens, total } = services.reader.listTokens(number, per_page);
  const items = tokens.map((token) => ({
    id: token.jti,
    type: 'token',
    attributes: tokenAttributes(token),
  }));
  return page({ json: new TextEncoder().encode(JSON.stringify(items)), total, page: number }, per_page);
};
