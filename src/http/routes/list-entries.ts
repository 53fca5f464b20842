import { writeList } from '../../contract/json-list.ts';
import { ServiceError } from '../../errors.ts';
import type { EntriesQuery, LogView } from '../../ledger/ledger.ts';
import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { exportForm } from '../export-form.ts';
import { exportList, type ListExportContext } from '../export-list.ts';
import { isPublicKind, keyHistoryKinds, leafItem } from '../log-entries.ts';
import { logView } from '../log-view.ts';
import { page, type Reply } from '../reply.ts';
import type { RequestHead } from '../request.ts';
import type { Services } from '../services.ts';

/**
 * Without a role only of kinds that are public, which have to be named: a list never leaves out in silence. Whole,
 * those that there were when the first was read: they are listed oldest first.
 */
export const listEntries: Handler<'listEntries'> = async (context) => {
  const { query, refusal } = context;
  const { kind: kinds, page: number, per_page, ...range } = query;
  if (refusal !== undefined && !kinds?.every(isPublicKind)) throw refusal;
  return listLeaves(context, { ...range, ...(kinds === undefined ? {} : { kinds }) });
};

/** The entries about keys, for everybody: auditors follow the keys of the log with them. */
export const listKeyHistory: Handler<'listKeyHistory'> = async (context) =>
  listLeaves(context, { kinds: keyHistoryKinds });

async function listLeaves(
  context: ListExportContext & {
    readonly services: Services;
    readonly head: RequestHead;
    readonly remoteAddress: string;
    readonly query: { readonly page?: number; readonly per_page?: number };
  },
  wanted: Omit<EntriesQuery, 'page' | 'per_page'>,
): Promise<Reply> {
  const { services, query, head } = context;
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  const view = await logView(context);
  const form = exportForm(head);
  if (form !== undefined)
    return exportList<{ from: number; left: number }>(context, form, async (place) => {
      const from = place === undefined ? {} : { from: place.from };
      const { leaves, total } = await services.logReader.entries(view, { ...wanted, ...from, ...exported });
      const shown = leaves.slice(0, place?.left);
      const left = (place?.left ?? total) - shown.length;
      const bytes = writeList(shown.map(leafItem), 'lines');
      const last = shown.at(-1);
      return last === undefined || left <= 0
        ? { bytes }
        : { bytes, next: { from: last.leaf_index + 1, left } };
    });
  const { leaves, total } = await read(services, view, { ...wanted, page: number, per_page });
  return page({ json: writeList(leaves.map(leafItem)), total, page: number }, per_page);
}

/** However long the entries are, so many are not too long for one answer. */
const exported = { page: 1, per_page: Math.floor(limits.maxEntriesPageBytes / limits.maxEntryBytes) };

const read = ({ logReader, metrics }: Services, view: LogView, query: EntriesQuery) =>
  logReader.entries(view, query).catch((error: unknown) => {
    // By its schema the parameter is right: the entries of the page are too long.
    if (error instanceof ServiceError && error.details?.field === 'per_page')
      metrics.limitReached('maxEntriesPageBytes');
    throw error;
  });
