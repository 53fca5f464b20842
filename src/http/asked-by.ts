import type { Queries } from '../analytics/queries.ts';
import type { Pool, RunOptions } from '../rpc/pool.ts';
import type { Identity } from './endpoint.ts';
import { countingRefusals, queryLimits } from './reached.ts';
import type { Services } from './services.ts';

interface Asking {
  readonly identity: Identity | undefined;
  readonly signal: AbortSignal;
}

/** With what a query is run: for whom, and until when anybody waits. */
export const askedBy = ({ identity, signal }: Asking): RunOptions =>
  identity === undefined ? { signal } : { signal, caller: identity.principal.id };

export interface QueryContext extends Asking {
  readonly services: Pick<Services, 'queries' | 'metrics'>;
}

/** The analytics pool, for the queries of one request. Refusals by its limits are counted. */
export const queriesOf = (context: QueryContext): Pick<Pool<Queries>, 'run'> => ({
  run: (task, input) => {
    const { queries, metrics } = context.services;
    return countingRefusals(metrics, queryLimits, queries.run(task, input, askedBy(context)));
  },
});
