import type { ErrorCode } from '../errors.ts';
import { alertsRoutes } from './routes/alerts.ts';
import { analyticsRoutes, topologyRoutes } from './routes/analytics.ts';
import { assetsRoutes, servicesRoutes } from './routes/assets.ts';
import { authRoutes } from './routes/auth.ts';
import { discoveryRoutes } from './routes/discovery.ts';
import { elasticsearchRoutes } from './routes/elasticsearch.ts';
import { eventsRoutes } from './routes/events.ts';
import { identitiesRoutes } from './routes/identities.ts';
import { ingestRoutes } from './routes/ingest.ts';
import { intelRoutes } from './routes/intel.ts';
import { otlpRoutes } from './routes/otlp.ts';
import { receiptRoutes } from './routes/receipts.ts';
import type { Route } from './routes/route.ts';
import { rulesRoutes } from './routes/rules.ts';
import { silencesRoutes } from './routes/silences.ts';
import { splunkRoutes } from './routes/splunk.ts';
import { systemRoutes } from './routes/system.ts';
import { transparencyRoutes } from './routes/transparency.ts';

export type { Method, RequestBody, ResponseBody, Route } from './routes/route.ts';

/**
 * All operations of the service by id. The server, validation, the OpenAPI document, the typed client and the
 * access policy are derived from this table.
 */
export const routes = {
  ...authRoutes,
  ...ingestRoutes,
  ...elasticsearchRoutes,
  ...splunkRoutes,
  ...otlpRoutes,
  ...receiptRoutes,
  ...eventsRoutes,
  ...alertsRoutes,
  ...assetsRoutes,
  ...servicesRoutes,
  ...discoveryRoutes,
  ...identitiesRoutes,
  ...topologyRoutes,
  ...analyticsRoutes,
  ...rulesRoutes,
  ...intelRoutes,
  ...silencesRoutes,
  ...systemRoutes,
  ...transparencyRoutes,
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;
export type OperationId = keyof Routes;
export const operationIds = Object.keys(routes) as OperationId[];

/** Returns an entry of the table as a plain `Route`, for code that handles all operations in the same way. */
export const routeOf = (operation: OperationId): Route => routes[operation];

/**
 * Returns every error code that an operation can return: its own codes and the codes that follow from its definition.
 */
export function errorsOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>();
  // Parameters in paths of emulated services do not name resources.
  if (route.params !== undefined && route.protocol === undefined) codes.add('NOT_FOUND');
  for (const code of route.errors ?? []) codes.add(code);
  if (route.headers !== undefined && 'if-match' in route.headers.properties) codes.add('VERSION_MISMATCH');
  codes.add('INVALID_REQUEST');
  if (route.alwaysPublic === undefined) codes.add('UNAUTHENTICATED').add('FORBIDDEN');
  if (route.body) codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  return [...codes.add('RATE_LIMITED').add('INTERNAL').add('OVERLOADED').add('UNAVAILABLE')];
}
