import type { analyticsRoutes } from '../../contract/routes/analytics.ts';
import { onlyId } from '../../contract/singleton.ts';
import { defaultWindow } from '../../contract/vocabulary.ts';
import type { Handlers } from '../context.ts';
import { resource } from '../reply.ts';
import { queriesOf } from '../run-options.ts';

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
