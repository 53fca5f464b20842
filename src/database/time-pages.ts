import { invalidField } from '../errors.ts';
import type { ListQuery } from '../store/store.ts';
import type { Found } from './lists/list.ts';
import type { ListPosition } from './lists/order.ts';
import { entryCount, type Rows } from './rows.ts';

type TimeKey = [number, string];
/** The methods of a table that this module uses. The keys of the table are times (epoch ms) with ids. */
type ByTime = Pick<Rows<unknown, TimeKey>, 'getKeys' | 'getKeysCount' | 'getStats'>;

/**
 * Returns the key range for a range of time, in the order of the query. A key with only a time sorts before
 * all keys with this time and an id.
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
 * Returns the positions on one page of a list that is sorted by time and filtered only by time. Reads only the
 * page. Keys of a range are counted, at 0.06 µs each; continuing after a position takes constant time.
 */
export function positionsByTime(
  index: ByTime,
  query: ListQuery,
  after: ListPosition | undefined,
  offset: number,
): Found {
  if (after !== undefined && typeof after.value !== 'number')
    throw invalidField('cursor', 'is not a cursor of this service');
  const range = timeRange(query);
  // The range is copied, because `getKeysCount` of lmdb-js modifies the object that it receives.
  const total =
    query.from === undefined && query.to === undefined ? entryCount(index) : index.getKeysCount({ ...range });
  if (offset >= total) return { total, positions: [] };
  const keys = index.getKeys({
    ...range,
    limit: query.per_page + 1,
    ...(after === undefined ? { offset } : { start: [after.value, after.id] as TimeKey, exclusiveStart: true }),
  });
  return { total, positions: Array.from(keys, ([value, id]) => ({ value, id })) };
}
