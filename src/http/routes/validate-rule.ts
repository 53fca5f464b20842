import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { data } from '../reply.ts';

export const validateRule: Handler<'validateRule'> = async ({ services, body }) =>
  data(await countingRefusals(services.metrics, queryLimits, services.rules.validate(body.source)));
