import { askedBy } from '../asked-by.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, ruleTaskLimits } from '../reached.ts';
import { data } from '../reply.ts';

export const validateRule: Handler<'validateRule'> = async (context) => {
  const { services, body } = context;
  const validated = services.rules.validate(body.source, askedBy(context));
  return data(await countingRefusals(services.metrics, ruleTaskLimits, validated));
};
