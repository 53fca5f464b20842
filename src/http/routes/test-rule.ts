import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { data } from '../reply.ts';

export const testRule: Handler<'testRule'> = async ({ services, body, signal }) =>
  data(await countingRefusals(services.metrics, queryLimits, services.rules.test(body, signal)));
