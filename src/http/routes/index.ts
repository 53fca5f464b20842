import { Budget, BudgetOfEach } from '../../admission/budget.ts';
import { operationIds, routeOf } from '../../contract/routes.ts';
import { limits } from '../../limits.ts';
import { type BodyBudgets, bind, type Handler, type HttpOperation, refuseUpgrade } from '../context.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Services } from '../services.ts';
import { alertsHandlers } from './alerts.ts';
import { analyticsHandlers, topologyHandlers } from './analytics.ts';
import { assetsHandlers, servicesHandlers } from './assets.ts';
import { authHandlers } from './auth.ts';
import { discoveryHandlers } from './discovery.ts';
import { elasticsearchHandlers } from './elasticsearch.ts';
import { eventsHandlers } from './events.ts';
import { identitiesHandlers } from './identities.ts';
import { ingestHandlers } from './ingest.ts';
import { intelHandlers } from './intel.ts';
import { otlpHandlers } from './otlp.ts';
import { receiptHandlers } from './receipts.ts';
import { rulesHandlers } from './rules.ts';
import { silencesHandlers } from './silences.ts';
import { splunkHandlers } from './splunk.ts';
import { systemHandlers } from './system.ts';
import { transparencyHandlers } from './transparency.ts';

/** The handlers of all HTTP operations. */
export const handlers = {
  ...authHandlers,
  ...ingestHandlers,
  ...elasticsearchHandlers,
  ...splunkHandlers,
  ...otlpHandlers,
  ...receiptHandlers,
  ...eventsHandlers,
  ...alertsHandlers,
  ...assetsHandlers,
  ...servicesHandlers,
  ...discoveryHandlers,
  ...identitiesHandlers,
  ...topologyHandlers,
  ...analyticsHandlers,
  ...rulesHandlers,
  ...intelHandlers,
  ...silencesHandlers,
  ...systemHandlers,
  ...transparencyHandlers,
} satisfies { [Op in HttpOperation]: Handler<Op> };

/** Returns the maximum ingest bytes in progress for one principal: at least the maximum length of a body. */
function ingestBytesOfPrincipal(config: Services['config']): number {
  const all = config['limits.max_ingest_in_flight_bytes'];
  return Math.max(all * limits.maxIngestShareOfPrincipal, Math.min(all, config['limits.max_body_bytes']));
}

/** Returns the endpoints of the whole API, for `startServer`. */
export function endpoints(services: Services): Endpoint[] {
  const budgets: BodyBudgets = {
    json: new Budget(limits.maxJsonInFlightBytes),
    jsonOfPrincipal: new BudgetOfEach(limits.maxJsonInFlightBytesPerPrincipal),
    ingestOfPrincipal: new BudgetOfEach(ingestBytesOfPrincipal(services.config)),
    publicJson: new Budget(limits.maxPublicJsonInFlightBytes),
    largeJson: new Budget(limits.maxIntelInFlightBytes),
    ingest: new Budget(services.config['limits.max_ingest_in_flight_bytes']),
  };
  services.metrics.watch(
    'candor_ingest_body_bytes',
    'Bytes of ingest bodies being received or processed.',
    () => budgets.ingest.used,
  );
  const serve = <Op extends HttpOperation>(operation: Op) =>
    bind(operation, handlers[operation] as Handler<Op>, services, budgets);
  return [
    ...(Object.keys(handlers) as HttpOperation[]).flatMap(serve),
    ...operationIds.filter((operation) => routeOf(operation).websocket !== undefined).map(refuseUpgrade),
  ];
}
