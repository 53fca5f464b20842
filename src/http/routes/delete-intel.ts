import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { requireLog } from '../log-required.ts';
import { noContent } from '../reply.ts';

export const deleteIntel: Handler<'deleteIntel'> = async ({ services, params, headers, identity }) => {
  await requireLog(services);
  const version = ifMatchVersion(headers['if-match']);
  await services.intel.remove(params.intel_id, identity.principal, version);
  return noContent;
};
