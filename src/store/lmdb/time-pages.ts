import { invalidField } from '../../errors.ts';
import type { Found } from '../lists/list.ts';
import type { Place } from '../lists/order.ts';
import type { ListQuery } from '../store.ts';
import type { Rows } from './seal.ts';
import { entryCount } from './tables.ts';

type TimeKey = [number, string];
/** The part of a table that is read here; its keys are times (epoch ms) with ids. */
type ByTime = Pick<Rows<unknown, TimeKey>, 'getKeys' | 'getKeysCount' | 'getStats'>;

/**
 * Returns the key range for a range of time, in the order of the query. A time alone sorts before all keys of
 * that time.
 */
export function timeRange({ from, to, order }: Pick<ListQuery, 'from' | 'to' | 'order'>) {
  const [first, last] = order === 'asc' ? [from, to] : [to, from];
  return {
    reverse: order === 'desc',
    ...(first === undefined ? {} : { start: [first] as unknown as TimeKey }),
    ...(last === undefined ? {} : { end: [last] as unknown as TimeKey }),
  };
}

/**
 * Returns places of a list that is sorted by time and filtered by nothing else: reads only the page. The keys
 * of a range are counted, at 0.06 µs each; after a place it continues in constant time.
 */
export function placesByTime(
  index: ByTime,
  query: ListQuery,
  after: Place | undefined,
  offset: number,
): Found {
  if (after !== undefined && typeof after.value !== 'number')
    throw invalidField('cursor', 'is not a cursor of this service');
  const range = timeRange(query);
  // A copy, because lmdb-js writes to the options of a count.
  const total =
    query.from === undefined && query.to === undefined ? entryCount(index) : index.getKeysCount({ ...range });
  if (offset >= total) return { total, places: [] };
  const keys = index.getKeys({
    ...range,
    limit: query.per_page + 1,
    ...(after === undefined
      ? { offset }
      : { start: [after.value, after.id] as TimeKey, exclusiveStart: true }),
  });
  return { total, places: Array.from(keys, ([value, id]) => ({ value, id })) };
}
