import { routes } from '../../contract/routes.ts';
import type { Handler } from '../context.ts';
import { currentStatus } from '../status.ts';

const { mediaType } = routes.getMetrics.responses[200];

export const getMetrics: Handler<'getMetrics'> = async ({ services }) => {
  // A scrape must also succeed while a thread is down: that is when it is wanted most.
  const status = await currentStatus(services).catch(() => undefined);
  const body = await services.metrics.scrape(status);
  return { kind: 'bare', status: 200, mediaType, body };
};
