import type { ParsedList } from '../contract/query.ts';
import type { WholeListForm } from '../contract/whole-list.ts';
import { ServiceError } from '../errors.ts';
import type { EventFilter } from '../events/query/filter.ts';
import type { Table } from '../events/records.ts';
import type { EventExportPlace, EventExportQuery } from '../store/store.ts';
import { columnsOf, exportForm, exportReply, type ListExportContext } from './export-list.ts';
import { type ExportPage, requireWhole } from './export-pages.ts';
import { type Header, page, type Reply, resource } from './reply.ts';
import type { RequestHead } from './request.ts';
import { queriesOf } from './run-options.ts';
import type { Services } from './services.ts';

interface ListContext extends ListExportContext {
  readonly services: Services;
  readonly query: ParsedList;
  readonly head: RequestHead;
}

export const eventTypes = { network: 'network_event', dns: 'dns_event' } as const;

/** Returns a page of events, or all events, from the analytics pool. */
export async function listEvents(table: Table, context: ListContext): Promise<Reply> {
  const { services, query, head } = context;
  const { filter, order, page: number, per_page, cursor } = query;
  const asked = { table, filter, order };
  const form = exportForm(head);
  if (form !== undefined) return exportEvents(context, form, asked);
  const part = { ...asked, page: number, per_page, ...(cursor === undefined ? {} : { cursor }) };
  const list = await queriesOf(context).run('listEvents', part);
  return withDamage(services, table, filter, page(list, per_page));
}

/** Adds to the reply the list of damaged events that are missing from the reply. */
export function withDamage(
  { reader }: Pick<Services, 'reader'>,
  table: Table,
  { from, to }: EventFilter,
  reply: Reply,
): Reply {
  const damaged = reader.damagedEvents(table, from, to);
  return damaged.length === 0 ? reply : ({ ...reply, damaged } as Reply);
}

/**
 * Exports all events in parts. A header states the number of damaged events that are left out. If more damage
 * is found during the export, the connection ends without the last chunk.
 */
async function exportEvents(context: ListContext, form: WholeListForm, query: EventExportQuery): Promise<Reply> {
  const { services } = context;
  const { table, filter } = query;
  const leftOut = () =>
    services.reader.damagedEvents(table, filter.from, filter.to).reduce((sum, { rows }) => sum + rows, 0);
  let known: number | undefined;
  const headers: Header[] = [];
  const reply = await exportReply<EventExportPlace>(
    context,
    form,
    async (place) => {
      const read = await readPart(context, form, place === undefined ? query : { ...query, place });
      const damaged = leftOut();
      if (place !== undefined && damaged > known!)
        throw new ServiceError('INTERNAL', `${damaged - known!} events of the export are damaged; see /health`, {
          reason: 'data_damaged',
        });
      known = damaged;
      return read;
    },
    headers,
  );
  if (known! > 0) headers.push(['X-Damaged-Events', `${known}`]);
  return reply;
}

async function readPart(
  context: ListContext,
  form: WholeListForm,
  query: EventExportQuery,
): Promise<ExportPage<EventExportPlace>> {
  const queries = queriesOf(context);
  if (form === 'arrow')
    return requireWhole(await queries.run('exportArrowEvents', { ...query, columns: columnsOf(context.route) }));
  const { lines: bytes, ...rest } = requireWhole(await queries.run('exportEvents', query));
  return { bytes, ...rest };
}

/**
 * Returns one event, which is read on this thread, and reports damage that the read finds. Throws the error of
 * `notStored` if there is no such event.
 */
export async function getEvent(table: Table, id: string, services: Services): Promise<Reply> {
  const { reader, damage } = services;
  let event: ReturnType<typeof reader.getEvent>;
  try {
    event = reader.getEvent(table, id);
  } catch (error) {
    await damage.report(error);
    throw error;
  }
  if (event !== undefined) return resource(eventTypes[table], id, event);
  throw notStored(table, id, services);
}

/** Returns a NOT_FOUND error, with the reason `expired` if the id belongs to an event that existed. */
export function notStored(table: Table, id: string, { reader }: Pick<Services, 'reader'>): ServiceError {
  if (reader.isPast(table, id))
    return new ServiceError('NOT_FOUND', `${eventTypes[table]} ${id} is past retention and no longer stored`, {
      reason: 'expired',
    });
  return new ServiceError('NOT_FOUND', `there is no ${eventTypes[table]} ${id}`);
}
