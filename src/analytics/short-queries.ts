import { parameterOf } from '../contract/filter-term.ts';
import { boundsOnlyTime } from '../database/lists/filter.ts';
import type { ListQuery } from '../store/store.ts';
import type { Queries } from './queries.ts';

/**
 * Functions that return whether a task is short for an input (at most 0.2 s with the largest inventory),
 * regardless of the amount of stored data.
 */
type ShortTasks = {
  readonly [K in keyof Queries]?: (input: Parameters<Queries[K]>[0]) => boolean;
};

const always = () => true;
/** Returns a predicate for queries that filter only by time, and sort by an indexed time. */
const byTime =
  (sort: string) =>
  (query: ListQuery): boolean =>
    query.sort === sort && boundsOnlyTime(query);

const shortTasks: ShortTasks = {
  // Events are counted by the headers of their blocks. Few events are sorted, even for a late page.
  listEvents: ({ filter }) => boundsOnlyTime(filter),
  arrowPage: always,
  listAlerts: byTime('last_seen'),
  listAudit: byTime('time'),
  listAlertHistory: always,
  listAssets: always,
  listAssetHistory: always,
  listNotes: always,
  // Services of an asset are read by their keys.
  listServices: ({ terms }) => terms.some((term) => parameterOf(term) === 'asset_id'),
  listPrincipals: byTime('created_at'),
  listTokens: byTime('issued_at'),
  listSilences: always,
  listScans: always,
  proveEvent: always,
  // These results are computed from statistics that are updated as events arrive.
  dashboard: always,
  trends: always,
  riskScore: always,
  riskHistory: always,
};

/** Returns whether a query is known to be short. Other queries may read all stored data. */
export function isShort(task: string, input: unknown): boolean {
  const test = Object.hasOwn(shortTasks, task) ? shortTasks[task as keyof Queries] : undefined;
  return (test as ((input: unknown) => boolean) | undefined)?.(input) ?? false;
}
