import type { analyticsRoutes } from '../../contract/routes/analytics.ts';
import { onlyId } from '../../contract/singleton.ts';
import { defaultWindow } from '../../contract/vocabulary.ts';
import { askedBy } from '../asked-by.ts';
import type { Handlers } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { resource } from '../reply.ts';

export const analyticsHandlers = {
  async getDashboard(context) {
    const { services, query } = context;
    const { size: ledger_size } = await services.ledger.status();
    const { window = defaultWindow } = query;
    const asked = { window, now: Date.now(), ledger_size, ingest: services.metrics.records() };
    const figures = services.queries.run('dashboard', asked, askedBy(context));
    return resource('dashboard', onlyId, await countingRefusals(services.metrics, queryLimits, figures));
  },

  async getTrends(context) {
    const { services, query } = context;
    const { window = defaultWindow } = query;
    const figures = services.queries.run('trends', { window, now: Date.now() }, askedBy(context));
    return resource('trends', onlyId, await countingRefusals(services.metrics, queryLimits, figures));
  },

  async getRiskScore(context) {
    const { services } = context;
    const made = services.queries.run('riskScore', { now: Date.now() }, askedBy(context));
    return resource('risk_score', onlyId, await countingRefusals(services.metrics, queryLimits, made));
  },

  getTriageModel: async ({ services }) => resource('triage_model', onlyId, services.reader.triageModel()),
} satisfies Handlers<typeof analyticsRoutes>;
