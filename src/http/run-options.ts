import type { Queries } from '../analytics/queries.ts';
import type { Pool, RunOptions } from '../rpc/pool.ts';
import type { Authenticated } from './endpoint.ts';
import { queryLimits, withLimitMetrics } from './limit-metrics.ts';
import type { Services } from './services.ts';

interface Asking {
  readonly identity: Authenticated | undefined;
  readonly signal: AbortSignal;
}

/** Returns the options of a query: its caller, and the signal that aborts it when the client disconnects. */
export const runOptions = ({ identity, signal }: Asking): RunOptions =>
  identity === undefined ? { signal } : { signal, caller: identity.principal.id };

export interface QueryContext extends Asking {
  readonly services: Pick<Services, 'queries' | 'metrics'>;
}

/**
 * Returns the analytics pool for the queries of one request. If a limit of the pool refuses a query, the
 * limit is counted.
 */
export const queriesOf = (context: QueryContext): Pick<Pool<Queries>, 'run'> => ({
  run: (task, input) => {
    const { queries, metrics } = context.services;
    return withLimitMetrics(metrics, queryLimits, queries.run(task, input, runOptions(context)));
  },
});
