import type { eventsRoutes } from '../../contract/routes/events.ts';
import type { Handlers } from '../context.ts';
import { getEventProof } from '../event-proof.ts';
import { getEvent, listEvents } from '../event-reads.ts';
import { eventValues } from '../event-values.ts';
import { eventHistogram } from '../histograms.ts';

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
