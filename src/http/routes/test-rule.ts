import { askedBy } from '../asked-by.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, ruleTaskLimits } from '../reached.ts';
import { data } from '../reply.ts';

export const testRule: Handler<'testRule'> = async (context) => {
  const { services, body } = context;
  const tested = services.rules.test(body, askedBy(context));
  return data(await countingRefusals(services.metrics, ruleTaskLimits, tested));
};
