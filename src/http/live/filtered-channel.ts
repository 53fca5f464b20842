import type { ParsedFilter } from '../../contract/query.ts';
import type { Channel, ReplayPart } from './channel.ts';

/** A subscription's filter, and a function that returns whether a resource matches it. */
export interface FilterMatcher<T> {
  readonly filter: ParsedFilter;
  readonly wanted: (resource: T) => boolean;
}

/** Reads the newest state of resources that changed after a sequence, in the analytics pool. */
export type ReplayChanges = (
  query: { since: number; filter: ParsedFilter; limit: number },
  signal: AbortSignal,
) => Promise<ReplayPart>;

/**
 * Returns a channel of changed resources. Filters are not indexed: these resources are few, and evaluating
 * every subscription costs less than a lookup.
 */
export const filteredChannel = <T>(
  head: () => number,
  compileFilter: (filter: ParsedFilter) => FilterMatcher<T>['wanted'],
  replayChanges: ReplayChanges,
): Channel<FilterMatcher<T>> => ({
  head,
  compile: (filter) => ({ filter, wanted: compileFilter(filter) }),
  subscriptionKey: () => undefined,
  replay: ({ filter }, since, limit, signal) => replayChanges({ since, filter, limit }, signal),
});
