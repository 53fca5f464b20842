import { writeList } from '../../contract/json-list.ts';
import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { keyHistoryKinds, leafItem } from '../log-entries.ts';
import { logView } from '../log-view.ts';
import { page } from '../reply.ts';

/** Entries that tell which key signs when, oldest first: auditors follow the keys of the log with them. */
export const listKeyHistory: Handler<'listKeyHistory'> = async (context) => {
  const { services, query } = context;
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  const wanted = { kinds: keyHistoryKinds, page: number, per_page };
  const { leaves, total } = await services.logReader.entries(await logView(context), wanted);
  return page({ json: writeList(leaves.map(leafItem)), total, page: number }, per_page);
};
