import { routes } from '../../contract/routes.ts';
import { ServiceError } from '../../errors.ts';
import type { Handler } from '../context.ts';
import { shownIdentity } from '../log-view.ts';
import { currentStatus } from '../status.ts';

const { mediaType } = routes.getMetrics.responses[200];

export const getMetrics: Handler<'getMetrics'> = async (context) => {
  const { services } = context;
  if (services.config['ledger.publication_delay_ms'] > 0 && (await shownIdentity(context)) === undefined)
    throw new ServiceError(
      'UNAUTHENTICATED',
      'metrics count log entries, and the log is published with a delay',
    );
  // A scrape must also succeed while a thread is down: that is when it is wanted most.
  const status = await currentStatus(services).catch(() => undefined);
  const body = await services.metrics.scrape(status);
  return { kind: 'bare', status: 200, mediaType, body };
};
