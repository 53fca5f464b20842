import type { ListItem } from '../../../client/client.ts';
import type { Params } from '../../state/address.ts';
import type { ranges } from '../../state/range.ts';
import { timeIn } from '../../state/time-in.ts';

/** Queries of the inventory, shared by the list and its counts. All functions here are pure. */

export type AssetRow = ListItem<'listAssets'>;
export type Asset = AssetRow['attributes'];
export type ServiceRow = ListItem<'listServices'>;
export type Service = ServiceRow['attributes'];

/** Filters by name, as in the request for the list. */
export type Filters = Readonly<Record<string, string | readonly string[]>>;

export const defaultSort = '-last_seen';

/** A named set of common filters. Its filters are in the URL and shown as chips. */
export interface QuickView {
  readonly name: string;
  readonly title: string;
  /** The tooltip. */
  readonly hint: string;
  readonly filters: Readonly<Partial<Record<QuickFilter, readonly string[]>>>;
  readonly sort?: string;
}
type QuickFilter = 'state' | 'risk_level';
const quickFilters: readonly QuickFilter[] = ['state', 'risk_level'];
const quickKeys: readonly string[] = quickFilters.flatMap((name) => [name, `not_${name}`]);

export const quickViews: readonly QuickView[] = [
  { name: 'all', title: 'All', hint: 'All assets, including retired ones', filters: {} },
  {
    name: 'staged',
    title: 'Staged',
    hint: 'Discovered automatically, not reviewed yet',
    filters: { state: ['staged'] },
  },
  {
    name: 'risk',
    title: 'At risk',
    hint: 'Moderate risk or higher, highest first',
    filters: { risk_level: ['moderate', 'high', 'critical'] },
    sort: '-risk_score',
  },
  {
    name: 'managed',
    title: 'Managed',
    hint: 'Confirmed by a user as belonging to the network',
    filters: { state: ['managed'] },
  },
  {
    name: 'retired',
    title: 'Retired',
    hint: 'No longer in use; the history of a retired asset shows when the asset is seen again',
    filters: { state: ['retired'] },
  },
];

/** Returns the quick view that matches the URL, if any. */
export const shownQuickView = (params: URLSearchParams): QuickView | undefined =>
  quickViews.find(({ filters }) =>
    quickKeys.every((key) => sameSet(params.getAll(key), filters[key as QuickFilter] ?? [])),
  );

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one));

/** Returns the URL parameters of a quick view; other filters stay. */
export const quickParams = ({ filters, sort }: QuickView): Params => ({
  ...Object.fromEntries(quickKeys.map((key) => [key, filters[key as QuickFilter]])),
  sort,
  id: undefined,
});

/** Replaces the state and risk filters of a query with the filters of a quick view. */
export const quickQuery = (query: Filters, { filters }: QuickView): Filters => {
  const others = Object.entries(query).filter(([name]) => !quickKeys.includes(name));
  return { ...Object.fromEntries(others), ...(filters as Filters) };
};

/** The last-seen filter in the URL: none, within a period, not within a period, or between two times. */
export type Seen =
  | { readonly kind: 'any' }
  | { readonly kind: 'within' | 'not within'; readonly range: keyof Lengths }
  | { readonly kind: 'between'; readonly from?: string; readonly to?: string };

type Lengths = Readonly<Record<keyof typeof ranges, number>>;
const lengths = ['15m', '1h', '24h', '7d', '30d'] as const satisfies readonly (keyof Lengths)[];
const lengthOf = (name: string | null): keyof Lengths | undefined => lengths.find((one) => one === name);

export function shownSeen(params: URLSearchParams): Seen {
  const from = timeIn(params.get('from'));
  const to = timeIn(params.get('to'));
  if (from !== undefined || to !== undefined)
    return { kind: 'between', ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const within = lengthOf(params.get('range'));
  if (within !== undefined) return { kind: 'within', range: within };
  const without = lengthOf(params.get('unseen'));
  return without === undefined ? { kind: 'any' } : { kind: 'not within', range: without };
}

/** Returns the URL parameters that replace the last-seen filter with this filter. */
export const seenParams = (seen: Seen): Params => ({
  range: seen.kind === 'within' ? seen.range : undefined,
  unseen: seen.kind === 'not within' ? seen.range : undefined,
  from: seen.kind === 'between' ? seen.from : undefined,
  to: seen.kind === 'between' ? seen.to : undefined,
});

/** Returns the half-open bounds in ISO 8601. `nowMs` is rounded down to 30 seconds, so that queries can be cached. */
export function seenQuery(seen: Seen, nowMs: number, lengthMs: Lengths): { from?: string; to?: string } {
  if (seen.kind === 'any') return {};
  if (seen.kind === 'between') {
    const { from, to } = seen;
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  }
  const at = new Date(Math.floor(nowMs / 30_000) * 30_000 - lengthMs[seen.range]).toISOString();
  return seen.kind === 'within' ? { from: at } : { to: at };
}

/**
 * Returns the address of the address filter if the filter is a single address, not a block. Links with such a filter
 * should open the asset of the address.
 */
export function onlyAddress(params: URLSearchParams): string | undefined {
  const [ip, ...more] = params.getAll('ip');
  return ip !== undefined && more.length === 0 && !ip.includes('/') ? ip : undefined;
}
