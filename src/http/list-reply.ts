import type { ParsedList } from '../contract/query.ts';
import type { ListPage, ListQuery } from '../store/store.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import { page, type Reply } from './reply.ts';
import type { Services } from './services.ts';

/** A page of a list that `read` makes, elsewhere than on this thread where it may be long. */
export async function listReply(
  {
    services,
    query,
    signal,
  }: { readonly services: Services; readonly query: ParsedList; readonly signal: AbortSignal },
  read: (query: ListQuery, signal: AbortSignal) => Promise<ListPage>,
): Promise<Reply> {
  const { filter, ...rest } = query;
  const list = read({ ...filter, ...rest }, signal);
  return page(await countingRefusals(services.metrics, queryLimits, list), query.per_page);
}
