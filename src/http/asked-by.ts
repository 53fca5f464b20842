import type { RunOptions } from '../rpc/pool.ts';
import type { Identity } from './endpoint.ts';

/** With what a query is run: for whom, and until when anybody waits. */
export const askedBy = ({
  identity,
  signal,
}: {
  readonly identity: Identity | undefined;
  readonly signal: AbortSignal;
}): RunOptions => (identity === undefined ? { signal } : { signal, caller: identity.principal.id });
