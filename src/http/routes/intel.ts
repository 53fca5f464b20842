import type { intelRoutes } from '../../contract/routes/intel.ts';
import type { Handlers } from '../context.ts';
import { queryLimits, withLimitMetrics } from '../limit-metrics.ts';
import { listReply } from '../list-reply.ts';
import { requireLog } from '../preconditions.ts';
import { created, noContent, resource } from '../reply.ts';

export const intelHandlers = {
  listIntel: (context) => listReply(context, (query, options) => context.services.intel.list(query, options)),

  async createIntel({ services, body, identity }) {
    await requireLog(services);
    const creating = services.intel.create(body, identity.principal);
    const { id, list } = await withLimitMetrics(services.metrics, queryLimits, creating);
    return created('intel_list', id, list, `/api/v1/intel/${id}`);
  },

  getIntel({ services, params }) {
    const { id, list } = services.intel.get(params.intel_id);
    return resource('intel_list', id, list);
  },

  listIndicators: (context) =>
    listReply(context, (query, options) => context.services.intel.indicators(context.params.intel_id, query, options)),

  async updateIntel(context) {
    const { services, params, body, identity, audited } = context;
    await requireLog(services);
    const updating = services.intel.update(params.intel_id, body, identity.principal, context.version);
    const { id, list, unchanged } = await withLimitMetrics(services.metrics, queryLimits, updating);
    if (unchanged === true) audited?.noteNoChange();
    return resource('intel_list', id, list);
  },

  async deleteIntel(context) {
    const { services, params, identity } = context;
    await requireLog(services);
    await services.intel.remove(params.intel_id, identity.principal, context.version);
    return noContent;
  },
} satisfies Handlers<typeof intelRoutes>;
