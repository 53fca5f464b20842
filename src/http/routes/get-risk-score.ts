import { onlyId } from '../../contract/singleton.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { resource } from '../reply.ts';

export const getRiskScore: Handler<'getRiskScore'> = async ({ services, signal }) => {
  const made = services.queries.run('riskScore', { now: Date.now() }, { signal });
  return resource('risk_score', onlyId, await countingRefusals(services.metrics, queryLimits, made));
};
