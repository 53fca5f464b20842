import type { Queries } from '../analytics/queries.ts';
import type { ParsedList } from '../contract/query.ts';
import { limits } from '../limits.ts';
import type { RunOptions } from '../rpc/pool.ts';
import type { ListPage, ListQuery } from '../store/store.ts';
import { exportForm, exportList, type ListExportContext } from './export-list.ts';
import { requireWhole } from './export-pages.ts';
import { queryLimits, withLimitMetrics } from './limit-metrics.ts';
import { page, type Reply } from './reply.ts';
import type { RequestHead } from './request.ts';
import { runOptions } from './run-options.ts';
import type { Services } from './services.ts';

interface ListContext extends ListExportContext {
  readonly services: Services;
  readonly query: ParsedList;
  readonly head: RequestHead;
}

type ReadPage = (query: ListQuery, options: RunOptions) => Promise<ListPage>;

/** Tasks of the analytics pool that need only a query to compute a page. */
type ListTask = {
  [K in keyof Queries]: Queries[K] extends (query: ListQuery) => ListPage ? K : never;
}[keyof Queries];

/** Returns a list that a task of the analytics pool computes. */
export const pooledList = (context: ListContext, task: ListTask): Promise<Reply> =>
  listReply(context, (query, options) => context.services.queries.run(task, query, options));

/**
 * Returns a list that belongs to a resource. The page is read first, so that a cursor of another list is refused even
 * if the resource does not exist.
 *
 * @param requireOwner - throws NOT_FOUND if the resource does not exist
 */
export const listOfOwner = (context: ListContext, read: ReadPage, requireOwner: () => unknown): Promise<Reply> =>
  listReply(context, async (query, options) => {
    const items = await read(query, options);
    requireOwner();
    return items;
  });

/**
 * Returns a page of a list, or exports the whole list. `read` returns one page as lines; reads that may be
 * long run on other threads. An export follows the cursors, and its pages are read at different times: if the
 * order changes during the export, items may be missing.
 */
export async function listReply(context: ListContext, read: ReadPage): Promise<Reply> {
  const { services, query, head } = context;
  const { filter, ...rest } = query;
  const asked = { ...filter, ...rest };
  const options = runOptions(context);
  const counted = (query: ListQuery) => withLimitMetrics(services.metrics, queryLimits, read(query, options));
  const form = exportForm(head);
  if (form !== undefined) {
    const all = { ...asked, per_page: limits.maxPerPage, form: 'lines' } as const;
    return exportList<string>(context, form, async (cursor) => {
      const { json, next_cursor } = requireWhole(await counted(cursor === undefined ? all : { ...all, cursor }));
      return next_cursor === undefined ? { bytes: json } : { bytes: json, next: next_cursor };
    });
  }
  return page(await counted(asked), query.per_page);
}
