import type { Health } from '../../contract/resources/health.ts';
import type { Handler } from '../context.ts';
import { bareJson } from '../reply.ts';

/** 503 only where nothing can be done for anyone: a degraded log still leaves a service that ingests and reads. */
export const getHealth: Handler<'getHealth'> = async ({ services }) => {
  const health = await services.health.state();
  return bareJson(
    {
      ...health,
      version: services.version,
      not_stored: services.metrics.notStored.counts(),
      timestamp: new Date().toISOString(),
    } satisfies Health,
    health.status === 'unavailable' ? 503 : 200,
  );
};
