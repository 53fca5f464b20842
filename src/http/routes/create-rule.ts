import type { Handler } from '../context.ts';
import { requireLog } from '../log-required.ts';
import { created } from '../reply.ts';

export const createRule: Handler<'createRule'> = async ({ services, body, identity }) => {
  await requireLog(services);
  const { id, rule } = await services.rules.create(body, identity.principal);
  return created('rule', id, rule, `/api/v1/rules/${id}`);
};
