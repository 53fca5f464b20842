import type { analyticsRoutes, topologyRoutes } from '../../contract/routes/analytics.ts';
import { onlyId } from '../../contract/singleton.ts';
import { defaultWindow } from '../../contract/vocabulary.ts';
import { invalidField } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Handlers } from '../context.ts';
import { resource } from '../reply.ts';
import { queriesOf } from '../run-options.ts';

export const topologyHandlers = {
  async getTopology({ services, query, identity, signal }) {
    const { depth, limit = limits.defaultTopologyNodes, group_by = 'host', ...rest } = query;
    if (depth !== undefined && rest.focus === undefined) throw invalidField('depth', 'requires a focus');
    const asked = { ...rest, group_by, depth: depth ?? 1, limit };
    return resource('topology', onlyId, await services.topology.ask(asked, identity.principal.id, signal));
  },
} satisfies Handlers<typeof topologyRoutes>;

export const analyticsHandlers = {
  async getDashboard(context) {
    const { services, query } = context;
    const { size: ledger_size } = await services.ledger.status();
    const { window = defaultWindow } = query;
    const asked = { window, now: Date.now(), ledger_size, ingest: services.metrics.records() };
    return resource('dashboard', onlyId, await queriesOf(context).run('dashboard', asked));
  },

  async getTrends(context) {
    const asked = { window: context.query.window ?? defaultWindow, now: Date.now() };
    return resource('trends', onlyId, await queriesOf(context).run('trends', asked));
  },

  getRiskScore: async (context) =>
    resource('risk_score', onlyId, await queriesOf(context).run('riskScore', { now: Date.now() })),

  getTriageModel: async ({ services }) => resource('triage_model', onlyId, services.reader.triageModel()),
} satisfies Handlers<typeof analyticsRoutes>;
