import { onlyId } from '../../contract/singleton.ts';
import { defaultWindow } from '../../contract/vocabulary.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { resource } from '../reply.ts';

export const getTrends: Handler<'getTrends'> = async ({ services, query, signal }) => {
  const { window = defaultWindow } = query;
  const figures = services.queries.run('trends', { window, now: Date.now() }, { signal });
  return resource('trends', onlyId, await countingRefusals(services.metrics, queryLimits, figures));
};
