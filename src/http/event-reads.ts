import type { ParsedList } from '../contract/query.ts';
import { ServiceError } from '../errors.ts';
import type { Table } from '../events/records.ts';
import type { EventExportPlace } from '../store/store.ts';
import { askedBy } from './asked-by.ts';
import { type ExportContext, exportReply } from './export-reply.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import { page, type Reply, resource } from './reply.ts';
import type { RequestHead } from './request.ts';
import type { Services } from './services.ts';
import { wantsLines } from './wants-lines.ts';

const types = { network: 'network_event', dns: 'dns_event' } as const;

/** A page of events, or all of them as lines, made in the analytics pool. */
export async function listEvents(
  table: Table,
  context: ExportContext & {
    readonly services: Services;
    readonly query: ParsedList;
    readonly head: RequestHead;
  },
): Promise<Reply> {
  const { services, query, head } = context;
  const { filter, order, page: number, per_page, cursor } = query;
  const asked = { table, filter, order };
  if (wantsLines(head))
    return exportReply<EventExportPlace>(context, (place) => {
      const part = place === undefined ? asked : { ...asked, place };
      const lines = services.queries.run('exportEvents', part, askedBy(context));
      return countingRefusals(services.metrics, queryLimits, lines);
    });
  const list = services.queries.run(
    'listEvents',
    { ...asked, page: number, per_page, ...(cursor === undefined ? {} : { cursor }) },
    askedBy(context),
  );
  return page(await countingRefusals(services.metrics, queryLimits, list), per_page);
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
