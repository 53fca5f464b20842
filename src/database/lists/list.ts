import { ServiceError } from '../../errors.ts';
import type { ListQuery } from '../../store/store.ts';
import { listHash, readListCursor, writeListCursor } from './cursor.ts';
import { compileFilter, type FilterSpec } from './filter.ts';
import { comparePositions, type ListPosition, type Sorts, sortValueOf } from './order.ts';

/** The filters and sort attributes of a resource's lists. */
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

/** One page of a list, as the positions of its items. `total` counts the whole list. */
export interface PositionsPage {
  readonly total: number;
  readonly shown: readonly ListPosition[];
  readonly page: number;
  /** The cursor of the next page; absent on the last page. */
  readonly next_cursor?: string;
}

/** Positions found for a page. */
export interface Found {
  readonly total: number;
  /**
   * The positions from the start of the page: if there are further pages, at least one more position than the page
   * holds.
   */
  readonly positions: readonly ListPosition[];
}

/** Number of rows read between two checks for cancellation, in 1 to 2 ms. */
const rowsAtOnce = 1024;
/**
 * Number of code units of a text that determine the order. Texts whose first code units are equal are ordered
 * by id. This bounds the size of a position, so that a cursor fits into its parameter.
 */
const sortedText = 200;

/**
 * Returns one page of the matching rows, sorted. Only sort values and ids are held in memory: at most twice the number
 * of rows up to the end of the page. After a cursor, at most twice the number of rows of the page.
 *
 * @param cancelled - polled periodically; the query fails with CANCELLED when it returns true
 * @throws INVALID_REQUEST for unknown fields, values or sorts, and for cursors of another list
 */
export function pageOf<T>(
  spec: ListSpec<T>,
  rows: Iterable<Row<T>>,
  query: ListQuery,
  cancelled: () => boolean = () => false,
): PositionsPage {
  const wanted = compileFilter(spec, query);
  const sortValue = sortValueOf(spec, query.sort);
  return pageFrom(spec, query, (after, offset) => {
    const first = new FirstPositions(offset + query.per_page + 1, comparePositions(query.order), after);
    let total = 0;
    let read = 0;
    for (const { id, item } of rows) {
      if (++read % rowsAtOnce === 0 && cancelled()) throw new ServiceError('CANCELLED', 'this query was cancelled');
      if (!wanted(item)) continue;
      total++;
      const value = sortValue(item);
      first.add({ value: typeof value === 'string' ? value.slice(0, sortedText) : value, id });
    }
    return { total, positions: first.sorted().slice(offset) };
  });
}

/**
 * Returns one page of a list. `find` reads the positions after a given position, or from an offset (0 if a
 * position is given).
 */
export function pageFrom(
  { type, of = '' }: Pick<ListSpec<never>, 'type' | 'of'>,
  query: ListQuery,
  find: (after: ListPosition | undefined, offset: number) => Found,
): PositionsPage {
  const list = listHash(`${type} ${of}`, query);
  const cursor = query.cursor === undefined ? undefined : readListCursor(query.cursor, list);
  const page = cursor?.page ?? query.page;
  const { total, positions } = find(cursor, cursor === undefined ? (page - 1) * query.per_page : 0);
  const shown = positions.slice(0, query.per_page);
  const last = shown.at(-1);
  if (last === undefined || positions.length <= query.per_page) return { total, shown, page };
  return { total, shown, page, next_cursor: writeListCursor({ ...last, page: page + 1 }, list) };
}

/** Collects the first `count` of any number of positions, in order. */
class FirstPositions {
  readonly #count: number;
  readonly #compare: (a: ListPosition, b: ListPosition) => number;
  readonly #after: ListPosition | undefined;
  /** The collected positions. They include the first `count` positions found so far. */
  #positions: ListPosition[] = [];
  /** Positions at or after this position are not needed. */
  #end: ListPosition | undefined;

  constructor(count: number, compare: (a: ListPosition, b: ListPosition) => number, after: ListPosition | undefined) {
    this.#count = count;
    this.#compare = compare;
    this.#after = after;
  }

  add(position: ListPosition): void {
    if (this.#after !== undefined && this.#compare(position, this.#after) <= 0) return;
    if (this.#end !== undefined && this.#compare(position, this.#end) >= 0) return;
    this.#positions.push(position);
    if (this.#positions.length < 2 * this.#count) return;
    this.#positions = this.sorted();
    this.#end = this.#positions.at(-1);
  }

  sorted(): ListPosition[] {
    return this.#positions.sort(this.#compare).slice(0, this.#count);
  }
}
