import { listFilterOf } from '../../contract/query.ts';
import type { eventsRoutes } from '../../contract/routes/events.ts';
import { onlyId } from '../../contract/singleton.ts';
import type { Table } from '../../events/records.ts';
import { limits } from '../../limits.ts';
import type { Handlers } from '../context.ts';
import { getEventProof } from '../event-proof.ts';
import { getEvent, listEvents, withDamage } from '../event-reads.ts';
import { eventHistogram } from '../histograms.ts';
import { type Reply, resource } from '../reply.ts';
import { type QueryContext, queriesOf } from '../run-options.ts';
import type { Services } from '../services.ts';

export const eventsHandlers = {
  listNetworkEvents: (context) => listEvents('network', context),

  getNetworkEventHistogram: (context) => eventHistogram('network', context),

  getNetworkEventValues: (context) => eventValues('network', context),

  getNetworkEvent: ({ services, params }) => getEvent('network', params.event_id, services),

  getNetworkEventProof: (context) => getEventProof('network', context),

  listDnsEvents: (context) => listEvents('dns', context),

  getDnsEventHistogram: (context) => eventHistogram('dns', context),

  getDnsEventValues: (context) => eventValues('dns', context),

  getDnsEvent: ({ services, params }) => getEvent('dns', params.event_id, services),

  getDnsEventProof: (context) => getEventProof('dns', context),
} satisfies Handlers<typeof eventsRoutes>;

type ValuesContext = QueryContext & {
  readonly services: Services;
  readonly query: { readonly by: string; readonly limit?: number };
};

/** Lists the values of an attribute with their counts, from the analytics pool. */
async function eventValues(table: Table, context: ValuesContext): Promise<Reply> {
  const { by, limit = limits.defaultShownValues, ...which } = context.query;
  const asked = { table, filter: listFilterOf(which), by, limit };
  const counts = await queriesOf(context).run('eventValueCounts', asked);
  if (!counts.complete) context.services.metrics.limitReached('maxValueTallyBytes');
  return withDamage(context.services, table, asked.filter, resource('value_counts', onlyId, counts));
}
