import type { ListQuery } from '../store/store.ts';
import { boundsOnlyTime } from './lists/filter.ts';
import type { Found } from './lists/list.ts';
import type { ListPosition } from './lists/order.ts';
import { entryCount, type Rows } from './rows.ts';

/**
 * The methods of a table that this module uses. The keys of the table are UUIDv7, created at the times in the
 * rows.
 */
type ById = Pick<Rows<unknown, string>, 'getKeys' | 'getStats'>;

/** Returns whether a query selects all items of a list, in order of creation. */
export function isAllByTime(query: ListQuery, time: string): boolean {
  const { from, to, sort } = query;
  return sort === time && from === undefined && to === undefined && boundsOnlyTime(query);
}

/**
 * Returns the positions on one page of an unfiltered list in the order of its ids, which is the order of time.
 * Reads only the page. Continuing after a position takes constant time; finding a page by number takes
 * milliseconds in a list of 100,000 items.
 */
export function positionsById(table: ById, query: ListQuery, after: ListPosition | undefined, offset: number): Found {
  const total = entryCount(table);
  if (offset >= total) return { total, positions: [] };
  const keys = table.getKeys({
    reverse: query.order === 'desc',
    limit: query.per_page + 1,
    ...(after === undefined ? { offset } : { start: after.id, exclusiveStart: true }),
  });
  return { total, positions: Array.from(keys, (id) => ({ value: undefined, id })) };
}
