import type { ParsedList } from '../contract/query.ts';
import type { WholeListForm } from '../contract/whole-list.ts';
import { ServiceError } from '../errors.ts';
import type { Table } from '../events/records.ts';
import type { EventExportPlace, EventExportQuery } from '../store/store.ts';
import { askedBy } from './asked-by.ts';
import { exportForm } from './export-form.ts';
import { columnsOf, type ListExportContext } from './export-list.ts';
import type { ExportPage } from './export-pages.ts';
import { exportReply } from './export-reply.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import { page, type Reply, resource } from './reply.ts';
import type { RequestHead } from './request.ts';
import type { Services } from './services.ts';

interface ListContext extends ListExportContext {
  readonly services: Services;
  readonly query: ParsedList;
  readonly head: RequestHead;
}

const types = { network: 'network_event', dns: 'dns_event' } as const;

/** A page of events, or all of them, made in the analytics pool. */
export async function listEvents(table: Table, context: ListContext): Promise<Reply> {
  const { services, query, head } = context;
  const { filter, order, page: number, per_page, cursor } = query;
  const asked = { table, filter, order };
  const form = exportForm(head);
  if (form !== undefined)
    return exportReply<EventExportPlace>(context, form, (place) => {
      const part = readPart(context, form, place === undefined ? asked : { ...asked, place });
      return countingRefusals(services.metrics, queryLimits, part);
    });
  const list = services.queries.run(
    'listEvents',
    { ...asked, page: number, per_page, ...(cursor === undefined ? {} : { cursor }) },
    askedBy(context),
  );
  return page(await countingRefusals(services.metrics, queryLimits, list), per_page);
}

async function readPart(
  context: ListContext,
  form: WholeListForm,
  query: EventExportQuery,
): Promise<ExportPage<EventExportPlace>> {
  const { queries } = context.services;
  if (form === 'arrow')
    return queries.run(
      'exportArrowEvents',
      { ...query, columns: columnsOf(context.route) },
      askedBy(context),
    );
  const { lines: bytes, ...rest } = await queries.run('exportEvents', query, askedBy(context));
  return { bytes, ...rest };
}

/** One event, read on this thread. NOT_FOUND; where it is known that there was one, with the reason `expired`. */
export function getEvent(table: Table, id: string, { reader }: Services): Reply {
  const event = reader.getEvent(table, id);
  if (event !== undefined) return resource(types[table], id, event);
  if (reader.isPast(table, id))
    throw new ServiceError('NOT_FOUND', `${types[table]} ${id} is past retention and no longer stored`, {
      reason: 'expired',
    });
  throw new ServiceError('NOT_FOUND', `there is no ${types[table]} ${id}`);
}
