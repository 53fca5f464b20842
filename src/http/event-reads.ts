import type { ParsedList } from '../contract/query.ts';
import type { WholeListForm } from '../contract/whole-list.ts';
import { ServiceError } from '../errors.ts';
import type { EventFilter } from '../events/filter.ts';
import type { Table } from '../events/records.ts';
import type { EventExportPlace, EventExportQuery } from '../store/store.ts';
import { askedBy } from './asked-by.ts';
import { exportForm } from './export-form.ts';
import { columnsOf, type ListExportContext } from './export-list.ts';
import { type ExportPage, requireWhole } from './export-pages.ts';
import { exportReply } from './export-reply.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import { type Header, page, type Reply, resource } from './reply.ts';
import type { RequestHead } from './request.ts';
import type { Services } from './services.ts';

interface ListContext extends ListExportContext {
  readonly services: Services;
  readonly query: ParsedList;
  readonly head: RequestHead;
}

export const eventTypes = { network: 'network_event', dns: 'dns_event' } as const;

/** A page of events, or all of them, made in the analytics pool. */
export async function listEvents(table: Table, context: ListContext): Promise<Reply> {
  const { services, query, head } = context;
  const { filter, order, page: number, per_page, cursor } = query;
  const asked = { table, filter, order };
  const form = exportForm(head);
  if (form !== undefined) return exportEvents(context, form, asked);
  const list = services.queries.run(
    'listEvents',
    { ...asked, page: number, per_page, ...(cursor === undefined ? {} : { cursor }) },
    askedBy(context),
  );
  const reply = page(await countingRefusals(services.metrics, queryLimits, list), per_page);
  return withDamage(services, table, filter, reply);
}

/** The reply with the events that are damaged and missing from it. */
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
 * All events, a part at a time. A header counts those that are damaged and left out. Where more turn out to be damaged
 * on the way, the connection ends without the last chunk.
 */
async function exportEvents(
  context: ListContext,
  form: WholeListForm,
  query: EventExportQuery,
): Promise<Reply> {
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
      const part = readPart(context, form, place === undefined ? query : { ...query, place });
      const read = await countingRefusals(services.metrics, queryLimits, part);
      const damaged = leftOut();
      if (place !== undefined && damaged > known!)
        throw new ServiceError(
          'INTERNAL',
          `${damaged - known!} events of the export are damaged; see /health`,
          {
            reason: 'data_damaged',
          },
        );
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
  const { queries } = context.services;
  if (form === 'arrow')
    return requireWhole(
      await queries.run(
        'exportArrowEvents',
        { ...query, columns: columnsOf(context.route) },
        askedBy(context),
      ),
    );
  const made = await queries.run('exportEvents', query, askedBy(context));
  const { lines: bytes, ...rest } = requireWhole(made);
  return { bytes, ...rest };
}

/** One event, read on this thread. NOT_FOUND as `notStored`. */
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

/** NOT_FOUND; where it is known that there was such an event, with the reason `expired`. */
export function notStored(table: Table, id: string, { reader }: Pick<Services, 'reader'>): ServiceError {
  if (reader.isPast(table, id))
    return new ServiceError(
      'NOT_FOUND',
      `${eventTypes[table]} ${id} is past retention and no longer stored`,
      {
        reason: 'expired',
      },
    );
  return new ServiceError('NOT_FOUND', `there is no ${eventTypes[table]} ${id}`);
}
