import { ServiceError } from '../../errors.ts';
import type { ListQuery } from '../store.ts';
import { listHash, readListCursor, writeListCursor } from './cursor.ts';
import { compileFilter, type FilterSpec } from './filter.ts';
import { comparePlaces, type Place, type Sorts, sortValueOf } from './order.ts';

/** A resource that is listed: what its lists are filtered and sorted by. One file a resource, beside this one. */
export interface ListSpec<T> extends FilterSpec<T> {
  readonly sorts: Sorts<T>;
  /** What the list belongs to, where each of many has its own. */
  readonly of?: string;
}

/** An item with its id, which no other of its list has. */
export interface Row<T> {
  readonly id: string;
  readonly item: T;
}

/** One page of a list: where its items stand; `total` counts the whole list. */
export interface PlacesPage {
  readonly total: number;
  readonly shown: readonly Place[];
  readonly page: number;
  /** Absent on the last page. */
  readonly next_cursor?: string;
}

/** What a page needs of its list. */
export interface Found {
  readonly total: number;
  /** From the first of the page on, at least one more than the page holds where there are more. */
  readonly places: readonly Place[];
}

/** Rows read between two looks at whether anybody still waits: a millisecond or two. */
const rowsAtOnce = 1024;
/**
 * Code units of a text that count for its order: what is equal so far is in order of id. So a place is small, of
 * whatever length the texts are, and a cursor is no longer than its parameter may be.
 */
const sortedText = 200;

/**
 * One page of the rows that are wanted, sorted. Of these, only the sort values and ids are held, and no more than
 * twice as many as come before the end of the page; after a cursor, than the page has.
 *
 * @param cancelled - asked now and then; once true, it ends with CANCELLED
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
        throw new ServiceError('CANCELLED', 'nobody waits for this query any more');
      if (!wanted(item)) continue;
      total++;
      const value = sortValue(item);
      first.add({ value: typeof value === 'string' ? value.slice(0, sortedText) : value, id });
    }
    return { total, places: first.sorted().slice(offset) };
  });
}

/** One page of a list that `find` reads: the places after one, or from an offset (0 where there is a place). */
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

/** The first places, in order, of however many. */
class FirstPlaces {
  readonly #count: number;
  readonly #compare: (a: Place, b: Place) => number;
  readonly #after: Place | undefined;
  /** The first ones so far are among these. */
  #places: Place[] = [];
  /** Those from here on are not wanted any more. */
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
