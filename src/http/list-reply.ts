import type { Queries } from '../analytics/queries.ts';
import type { ParsedList } from '../contract/query.ts';
import { limits } from '../limits.ts';
import type { RunOptions } from '../rpc/pool.ts';
import type { ListPage, ListQuery } from '../store/store.ts';
import { askedBy } from './asked-by.ts';
import { exportForm } from './export-form.ts';
import { exportList, type ListExportContext } from './export-list.ts';
import { requireWhole } from './export-pages.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import { page, type Reply } from './reply.ts';
import type { RequestHead } from './request.ts';
import type { Services } from './services.ts';

interface ListContext extends ListExportContext {
  readonly services: Services;
  readonly query: ParsedList;
  readonly head: RequestHead;
}

/** Tasks of the analytics pool that make a page of a query and of nothing else. */
type ListTask = {
  [K in keyof Queries]: Queries[K] extends (query: ListQuery) => ListPage ? K : never;
}[keyof Queries];

/** A list that a task of the analytics pool makes. */
export const pooledList = (context: ListContext, task: ListTask): Promise<Reply> =>
  listReply(context, (query, options) => context.services.queries.run(task, query, options));

/**
 * A page of a list, or all of it, of which `read` makes a page at a time as lines, elsewhere than on this thread where it
 * may be long. All is what cursors lead through, as of the time of each page: of an order that changes meanwhile,
 * something may be missed.
 */
export async function listReply(
  context: ListContext,
  read: (query: ListQuery, options: RunOptions) => Promise<ListPage>,
): Promise<Reply> {
  const { services, query, head } = context;
  const { filter, ...rest } = query;
  const asked = { ...filter, ...rest };
  const options = askedBy(context);
  const counted = (query: ListQuery) => countingRefusals(services.metrics, queryLimits, read(query, options));
  const form = exportForm(head);
  if (form !== undefined) {
    const all = { ...asked, per_page: limits.maxPerPage, form: 'lines' } as const;
    return exportList<string>(context, form, async (cursor) => {
      const { json, next_cursor } = requireWhole(
        await counted(cursor === undefined ? all : { ...all, cursor }),
      );
      return next_cursor === undefined ? { bytes: json } : { bytes: json, next: next_cursor };
    });
  }
  return page(await counted(asked), query.per_page);
}
