import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { page } from '../reply.ts';

export const listAlerts: Handler<'listAlerts'> = async ({ services, query, signal }) => {
  const { filter, ...rest } = query;
  const list = services.queries.listAlerts({ ...filter, ...rest }, signal);
  return page(await countingRefusals(services.metrics, queryLimits, list), query.per_page);
};
