import type { ingestRoutes } from '../../contract/routes/ingest.ts';
import type { Handlers } from '../context.ts';
import { takeBody } from '../take-body.ts';

export const ingestHandlers = {
  ingest: (context) => takeBody(context, context.query),

  ingestNetworkEvents: (context) => takeBody(context, { ...context.query, table: 'network' }),

  ingestDnsEvents: (context) => takeBody(context, { ...context.query, table: 'dns' }),
} satisfies Handlers<typeof ingestRoutes>;
