import type { rulesRoutes } from '../../contract/routes/rules.ts';
import type { Handlers } from '../context.ts';
import { ruleTaskLimits, withLimitMetrics } from '../limit-metrics.ts';
import { listReply } from '../list-reply.ts';
import { requireLog } from '../preconditions.ts';
import { created, data, noContent, resource } from '../reply.ts';
import { runOptions } from '../run-options.ts';

export const rulesHandlers = {
  listRules: (context) => listReply(context, async (query) => context.services.rules.list(query)),

  async createRule({ services, body, identity }) {
    await requireLog(services);
    const { id, rule } = await services.rules.create(body, identity.principal);
    return created('rule', id, rule, `/api/v1/rules/${id}`);
  },

  async reloadRules({ services, identity, audited }) {
    await requireLog(services);
    const { unchanged, ...reloaded } = await services.rules.reload(identity.principal);
    if (unchanged) audited?.noteNoChange();
    return data(reloaded);
  },

  async validateRule(context) {
    const { services, body } = context;
    const validated = services.rules.validate(body.source, runOptions(context));
    return data(await withLimitMetrics(services.metrics, ruleTaskLimits, validated));
  },

  async testRule(context) {
    const { services, body } = context;
    const tested = services.rules.test(body, runOptions(context));
    return data(await withLimitMetrics(services.metrics, ruleTaskLimits, tested));
  },

  getRule({ services, params }) {
    const { id, rule } = services.rules.get(params.rule_id);
    return resource('rule', id, rule);
  },

  async updateRule(context) {
    const { services, params, body, identity, audited } = context;
    await requireLog(services);
    const updated = await services.rules.update(params.rule_id, body, identity.principal, context.version);
    if (updated.unchanged) audited?.noteNoChange();
    return resource('rule', updated.id, updated.rule);
  },

  async deleteRule(context) {
    const { services, params, identity } = context;
    await requireLog(services);
    await services.rules.remove(params.rule_id, identity.principal, context.version);
    return noContent;
  },
} satisfies Handlers<typeof rulesRoutes>;
