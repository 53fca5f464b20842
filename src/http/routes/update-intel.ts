import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { requireLog } from '../log-required.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { resource } from '../reply.ts';

export const updateIntel: Handler<'updateIntel'> = async (context) => {
  const { services, params, headers, body, identity, audited } = context;
  await requireLog(services);
  const version = ifMatchVersion(headers['if-match']);
  const updating = services.intel.update(params.intel_id, body, identity.principal, version);
  const { id, list, unchanged } = await countingRefusals(services.metrics, queryLimits, updating);
  if (unchanged === true) audited?.noteNoChange();
  return resource('intel_list', id, list);
};
