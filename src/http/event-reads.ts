import type { ParsedList } from '../contract/query.ts';
import { ServiceError } from '../errors.ts';
import type { Table } from '../events/records.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import { page, type Reply, resource } from './reply.ts';
import type { Services } from './services.ts';

const types = { network: 'network_event', dns: 'dns_event' } as const;

/** A page of events, made in the analytics pool. */
export async function listEvents(
  table: Table,
  { services, query, signal }: { services: Services; query: ParsedList; signal: AbortSignal },
): Promise<Reply> {
  const { filter, order, page: number, per_page, cursor } = query;
  const list = services.queries.run(
    'listEvents',
    { table, filter, order, page: number, per_page, ...(cursor === undefined ? {} : { cursor }) },
    { signal },
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
