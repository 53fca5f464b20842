import { boundsOnlyTime } from '../lists/filter.ts';
import type { Found } from '../lists/list.ts';
import type { Place } from '../lists/order.ts';
import type { ListQuery } from '../store.ts';
import type { Rows } from './seal.ts';
import { entryCount } from './tables.ts';

/** The part of a table that is read here; its keys are UUIDv7, created at the time in their rows. */
type ById = Pick<Rows<unknown, string>, 'getKeys' | 'getStats'>;

/** Whether a query is for a whole list in order of creation. */
export function isAllByTime(query: ListQuery, time: string): boolean {
  const { from, to, sort } = query;
  return sort === time && from === undefined && to === undefined && boundsOnlyTime(query);
}

/**
 * Returns places of a whole list in the order of its ids, which is that of time: reads only the page. After a
 * place it continues in constant time; pages of 100,000 items are also found by number within milliseconds.
 */
export function placesById(table: ById, query: ListQuery, after: Place | undefined, offset: number): Found {
  const total = entryCount(table);
  if (offset >= total) return { total, places: [] };
  const keys = table.getKeys({
    reverse: query.order === 'desc',
    limit: query.per_page + 1,
    ...(after === undefined ? { offset } : { start: after.id, exclusiveStart: true }),
  });
  return { total, places: Array.from(keys, (id) => ({ value: undefined, id })) };
}
