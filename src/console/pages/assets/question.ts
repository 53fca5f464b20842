import type { ListItem } from '../../../client/client.ts';
import type { Params } from '../../state/address.ts';
import type { ranges } from '../../state/range.ts';
import { timeIn } from '../../state/time-in.ts';

/** What of the inventory is shown; all pure, so that the list and its counts ask the same. */
export type AssetRow = ListItem<'listAssets'>;
export type Asset = AssetRow['attributes'];
export type ServiceRow = ListItem<'listServices'>;
export type Service = ServiceRow['attributes'];

/** Filters by name, as the list takes them. */
export type Filters = Readonly<Record<string, string | readonly string[]>>;

export const defaultSort = '-last_seen';

/** What is looked for most: filters with a name. What they say stands in the address, as chips. */
export interface QuickView {
  readonly name: string;
  readonly title: string;
  /** What it means. */
  readonly hint: string;
  readonly filters: Readonly<Partial<Record<QuickFilter, readonly string[]>>>;
  readonly sort?: string;
}
type QuickFilter = 'state' | 'risk_level';
const quickFilters: readonly QuickFilter[] = ['state', 'risk_level'];

export const quickViews: readonly QuickView[] = [
  { name: 'all', title: 'All', hint: 'Every asset, retired ones too', filters: {} },
  {
    name: 'staged',
    title: 'Staged',
    hint: 'The network showed them; nobody has looked at them yet',
    filters: { state: ['staged'] },
  },
  {
    name: 'risk',
    title: 'At risk',
    hint: 'Their alerts make them a moderate risk or more, the riskiest first',
    filters: { risk_level: ['moderate', 'high', 'critical'] },
    sort: '-risk_score',
  },
  {
    name: 'managed',
    title: 'Managed',
    hint: 'Somebody said that they belong here',
    filters: { state: ['managed'] },
  },
  {
    name: 'retired',
    title: 'Retired',
    hint: 'Out of use; one that is seen again says so',
    filters: { state: ['retired'] },
  },
];

/** The view that the address says, if it is one of these. */
export const shownQuickView = (params: URLSearchParams): QuickView | undefined =>
  quickViews.find(({ filters }) =>
    quickFilters.every((name) => sameSet(params.getAll(name), filters[name] ?? [])),
  );

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one));

/** What the address says once a view is chosen; other filters stay. */
export const quickParams = ({ filters, sort }: QuickView): Params => ({
  state: filters.state,
  risk_level: filters.risk_level,
  sort,
  id: undefined,
});

/** The same as a query, in place of what is filtered by state and risk. */
export const quickQuery = (query: Filters, { filters }: QuickView): Filters => {
  const others = Object.entries(query).filter(([name]) => !quickFilters.some((one) => one === name));
  return { ...Object.fromEntries(others), ...(filters as Filters) };
};

/** When an asset was last seen, as the address says it: nothing, since a while, not since a while, or between two times. */
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

/** What takes the one that was said before out of the address, or puts this one into it. */
export const seenParams = (seen: Seen): Params => ({
  range: seen.kind === 'within' ? seen.range : undefined,
  unseen: seen.kind === 'not within' ? seen.range : undefined,
  from: seen.kind === 'between' ? seen.from : undefined,
  to: seen.kind === 'between' ? seen.to : undefined,
});

/** The bounds of it, half-open, ISO 8601. `nowMs` is taken in whole half minutes, so that one question is asked once. */
export function seenQuery(seen: Seen, nowMs: number, lengthMs: Lengths): { from?: string; to?: string } {
  if (seen.kind === 'any') return {};
  if (seen.kind === 'between') {
    const { from, to } = seen;
    return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  }
  const at = new Date(Math.floor(nowMs / 30_000) * 30_000 - lengthMs[seen.range]).toISOString();
  return seen.kind === 'within' ? { from: at } : { to: at };
}

/** The one address that is asked for, where it is one and no block: who follows it wants to see its asset. */
export function soughtAddress(params: URLSearchParams): string | undefined {
  const [ip, ...more] = params.getAll('ip');
  return ip !== undefined && more.length === 0 && !ip.includes('/') ? ip : undefined;
}
