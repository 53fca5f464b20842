import type { Handler } from '../context.ts';
import { requireLog } from '../log-required.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { created } from '../reply.ts';

export const createIntel: Handler<'createIntel'> = async ({ services, body, identity }) => {
  await requireLog(services);
  const creating = services.intel.create(body, identity.principal);
  const { id, list } = await countingRefusals(services.metrics, queryLimits, creating);
  return created('intel_list', id, list, `/api/v1/intel/${id}`);
};
