import type { Queries } from '../analytics/queries.ts';
import type { ParsedList } from '../contract/query.ts';
import type { ListPage, ListQuery } from '../store/store.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import { page, type Reply } from './reply.ts';
import type { Services } from './services.ts';

interface ListContext {
  readonly services: Services;
  readonly query: ParsedList;
  readonly signal: AbortSignal;
}

/** Tasks of the analytics pool that make a page of a query and of nothing else. */
type ListTask = {
  [K in keyof Queries]: Queries[K] extends (query: ListQuery) => ListPage ? K : never;
}[keyof Queries];

/** A page of a list that a task of the analytics pool makes. */
export const pooledList = (context: ListContext, task: ListTask): Promise<Reply> =>
  listReply(context, (query, signal) => context.services.queries.run(task, query, { signal }));

/** A page of a list that `read` makes, elsewhere than on this thread where it may be long. */
export async function listReply(
  { services, query, signal }: ListContext,
  read: (query: ListQuery, signal: AbortSignal) => Promise<ListPage>,
): Promise<Reply> {
  const { filter, ...rest } = query;
  const list = read({ ...filter, ...rest }, signal);
  return page(await countingRefusals(services.metrics, queryLimits, list), query.per_page);
}
