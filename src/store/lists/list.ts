import { ServiceError } from '../../errors.ts';
import type { ListQuery } from '../store.ts';
import { listHash, readListCursor, writeListCursor } from './cursor.ts';
import { compileFilter, type FilterSpec } from './filter.ts';
import { comparePlaces, type Place, type Sorts, sortValueOf } from './order.ts';

/** Filters and sort attributes of a resource's lists. One file per resource, in this folder. */
export interface ListSpec<T> extends FilterSpec<T> {
  readonly sorts: Sorts<T>;
  /** The owner of the list, for resources with one list per owner. */
  readonly of?: string;
}

/** An item with its id, which is unique in its list. */
export interface Row<T> {
  readonly id: string;
  readonly item: T;
}

/** One page of a list: the places of its items; `total` counts the whole list. */
export interface PlacesPage {
  readonly total: number;
  readonly shown: readonly Place[];
  readonly page: number;
  /** Absent on the last page. */
  readonly next_cursor?: string;
}

/** Input for a page. */
export interface Found {
  readonly total: number;
  /** From the first place of the page on; at least one more than the page holds if there are more. */
  readonly places: readonly Place[];
}

/** Rows read between two checks for cancellation: a millisecond or two. */
const rowsAtOnce = 1024;
/**
 * Code units of a text that count for the order: texts that are equal so far are ordered by id. This bounds
 * the size of a place, and a cursor fits into its parameter.
 */
const sortedText = 200;

/**
 * Returns one page of the matching rows, sorted. Only sort values and ids are held in memory: at most twice
 * as many as there are up to the end of the page or, after a cursor, in the page.
 *
 * @param cancelled - polled from time to time; when true, the query ends with CANCELLED
 * @throws INVALID_REQUEST for unknown fields, values, sorts, and cursors of another list.
 */
export function pageOf<T>(
  spec: ListSpec<T>,
  rows: Iterable<Row<T>>,
  query: ListQuery,
  cancelled: () => boolean = () => false,
): PlacesPage {
  const wanted = compileFilter(spec, query);
  const sortValue = sortValueOf(spec, query.sort);
  return pageFrom(spec, query, (after, offset) => {
    const first = new FirstPlaces(offset + query.per_page + 1, comparePlaces(query.order), after);
    let total = 0;
    let read = 0;
    for (const { id, item } of rows) {
      if (++read % rowsAtOnce === 0 && cancelled())
        throw new ServiceError('CANCELLED', 'this query was cancelled');
      if (!wanted(item)) continue;
      total++;
      const value = sortValue(item);
      first.add({ value: typeof value === 'string' ? value.slice(0, sortedText) : value, id });
    }
    return { total, places: first.sorted().slice(offset) };
  });
}

/**
 * Returns one page of a list that `find` reads: the places after one, or from an offset (0 if there is a
 * place).
 */
export function pageFrom(
  { type, of = '' }: Pick<ListSpec<never>, 'type' | 'of'>,
  query: ListQuery,
  find: (after: Place | undefined, offset: number) => Found,
): PlacesPage {
  const list = listHash(`${type} ${of}`, query);
  const cursor = query.cursor === undefined ? undefined : readListCursor(query.cursor, list);
  const page = cursor?.page ?? query.page;
  const { total, places } = find(cursor, cursor === undefined ? (page - 1) * query.per_page : 0);
  const shown = places.slice(0, query.per_page);
  const last = shown.at(-1);
  if (last === undefined || places.length <= query.per_page) return { total, shown, page };
  return { total, shown, page, next_cursor: writeListCursor({ ...last, page: page + 1 }, list) };
}

/** Collects the first places, in order, of any number. */
class FirstPlaces {
  readonly #count: number;
  readonly #compare: (a: Place, b: Place) => number;
  readonly #after: Place | undefined;
  /** Contains the first places so far. */
  #places: Place[] = [];
  /** Places from here on are no longer needed. */
  #end: Place | undefined;

  constructor(count: number, compare: (a: Place, b: Place) => number, after: Place | undefined) {
    this.#count = count;
    this.#compare = compare;
    this.#after = after;
  }

  add(place: Place): void {
    if (this.#after !== undefined && this.#compare(place, this.#after) <= 0) return;
    if (this.#end !== undefined && this.#compare(place, this.#end) >= 0) return;
    this.#places.push(place);
    if (this.#places.length < 2 * this.#count) return;
    this.#places = this.sorted();
    this.#end = this.#places.at(-1);
  }

  sorted(): Place[] {
    return this.#places.sort(this.#compare).slice(0, this.#count);
  }
}
