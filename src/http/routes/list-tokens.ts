import { limits } from '../../limits.ts';
import type { Token } from '../../store/store.ts';
import type { Handler } from '../context.ts';
import { page } from '../reply.ts';
import { tokenAttributes } from '../token-reads.ts';

/** Newest first. Identities are few: all of them are read for each page. */
export const listTokens: Handler<'listTokens'> = ({ services, query }) => {
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  const tokens = services.reader.tokens().sort(newestFirst);
  const start = (number - 1) * per_page;
  const items = tokens
    .slice(start, start + per_page)
    .map((token) => ({ id: token.jti, type: 'token', attributes: tokenAttributes(token) }));
  const json = new TextEncoder().encode(JSON.stringify(items));
  return page({ json, total: tokens.length, page: number }, per_page);
};

function newestFirst(a: Token, b: Token): number {
  if (a.issued_at !== b.issued_at) return a.issued_at < b.issued_at ? 1 : -1;
  return a.jti < b.jti ? 1 : -1;
}
