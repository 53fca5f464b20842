import { boundsOnlyTime } from '../store/lists/filter.ts';
import type { ListQuery } from '../store/store.ts';
import type { Queries } from './queries.ts';

/** As a test of its input, whether a task takes milliseconds however much is stored, and 0.2 s of the largest inventory. */
type ShortTasks = {
  readonly [K in keyof Queries]?: (input: Parameters<Queries[K]>[0]) => boolean;
};

const always = () => true;
/** Nothing but a range of time is asked for, in the order of the index by that time. */
const byTime =
  (sort: string) =>
  (query: ListQuery): boolean =>
    query.sort === sort && boundsOnlyTime(query);

const shortTasks: ShortTasks = {
  // Blocks are counted by their headers; of a deep page, few are sorted.
  listEvents: ({ filter }) => boundsOnlyTime(filter),
  arrowPage: always,
  listAlerts: byTime('last_seen'),
  listAudit: byTime('time'),
  listAlertHistory: always,
  listAssets: always,
  listAssetHistory: always,
  listNotes: always,
  // Those of an asset are read by their keys.
  listServices: ({ terms }) => terms.some(({ field }) => field === 'asset_id'),
  listPrincipals: byTime('created_at'),
  listTokens: byTime('issued_at'),
  listSilences: always,
  listScans: always,
  proveEvent: always,
  // Of figures that are kept while events come.
  dashboard: always,
  trends: always,
  riskScore: always,
  riskHistory: always,
};

/** Whether a query is known to be short. Others may look at all that is stored. */
export function isShort(task: string, input: unknown): boolean {
  const test = Object.hasOwn(shortTasks, task) ? shortTasks[task as keyof Queries] : undefined;
  return (test as ((input: unknown) => boolean) | undefined)?.(input) ?? false;
}
