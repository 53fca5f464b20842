import type { Health } from '../../contract/resources/health.ts';
import type { Handler } from '../context.ts';
import { bareJson } from '../reply.ts';

/** 503 only where nothing can be done for anyone: a degraded log still leaves a service that ingests and reads. */
export const getHealth: Handler<'getHealth'> = async ({ services }) => {
  const health = await currentHealth(services);
  return bareJson(
    { ...health, version: services.version, timestamp: new Date().toISOString() } satisfies Health,
    health.status === 'unavailable' ? 503 : 200,
  );
};

type State = Pick<Health, 'status' | 'ledger' | 'advice' | 'regression'>;

async function currentHealth({
  store,
  ledger,
  ready,
}: Parameters<typeof getHealth>[0]['services']): Promise<State> {
  const [stored, logged] = await Promise.allSettled([store.status(), ledger.status()]);
  if (logged.status === 'rejected') {
    return {
      status: 'unavailable',
      ledger: 'unknown',
      advice: 'The ledger thread is restarting; see the log.',
    };
  }
  const { health } = logged.value;
  const state = health.state === 'ok' ? 'ok' : health.fault;
  if (stored.status === 'rejected') {
    return { status: 'unavailable', ledger: state, advice: 'The store thread is restarting; see the log.' };
  }
  if (!ready())
    return { status: 'unavailable', ledger: state, advice: 'The service is starting or stopping.' };
  const { regression } = logged.value;
  return {
    ...(health.state === 'ok'
      ? { status: 'ok', ledger: 'ok' }
      : { status: 'degraded', ledger: state, advice: health.advice }),
    ...(regression === undefined ? {} : { regression }),
  };
}
