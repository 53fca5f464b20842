import { boundsOnlyTime } from '../lists/filter.ts';
import type { Found } from '../lists/list.ts';
import type { Place } from '../lists/order.ts';
import type { ListQuery } from '../store.ts';
import type { Rows } from './seal.ts';
import { entryCount } from './tables.ts';

/** The part of a table that this reads; its keys are UUIDv7, made at the time that the rows tell. */
type ById = Pick<Rows<unknown, string>, 'getKeys' | 'getStats'>;

/** Whether a list is wanted whole, in the order of the time at which its items were made. */
export function isAllByTime(query: ListQuery, time: string): boolean {
  const { from, to, sort } = query;
  return sort === time && from === undefined && to === undefined && boundsOnlyTime(query);
}

/**
 * Places of a whole list in the order of its ids, which is that of the time: no more is read than the page. After a
 * place it goes on in constant time; the pages of 100,000 items are found in milliseconds by number, too.
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
