import { onlyId } from '../../contract/singleton.ts';
import { defaultWindow } from '../../contract/vocabulary.ts';
import { askedBy } from '../asked-by.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { resource } from '../reply.ts';

export const getTrends: Handler<'getTrends'> = async (context) => {
  const { services, query } = context;
  const { window = defaultWindow } = query;
  const figures = services.queries.run('trends', { window, now: Date.now() }, askedBy(context));
  return resource('trends', onlyId, await countingRefusals(services.metrics, queryLimits, figures));
};
