import { onlyId } from '../../contract/singleton.ts';
import { askedBy } from '../asked-by.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { resource } from '../reply.ts';

export const getRiskScore: Handler<'getRiskScore'> = async (context) => {
  const { services } = context;
  const made = services.queries.run('riskScore', { now: Date.now() }, askedBy(context));
  return resource('risk_score', onlyId, await countingRefusals(services.metrics, queryLimits, made));
};
