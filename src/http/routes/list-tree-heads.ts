import { writeTreeHead } from '../../contract/write-tree-head.ts';
import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { page } from '../reply.ts';

/** Timestamps in exact digits, in the ids too. */
export const listTreeHeads: Handler<'listTreeHeads'> = async ({ services, query }) => {
  const { page: number = 1, per_page = limits.defaultPerPage, ...range } = query;
  const { heads, total } = await services.ledger.heads({ ...range, page: number, per_page });
  const items = heads.map((head) => {
    const id = `${head.tree_size}-${BigInt(head.timestamp_ns)}`;
    return `{"id":"${id}","type":"tree_head","attributes":${writeTreeHead(head)}}`;
  });
  return page({ json: new TextEncoder().encode(`[${items.join(',')}]`), total, page: number }, per_page);
};
