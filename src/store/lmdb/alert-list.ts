import type { Alert } from '../../contract/resources/alert.ts';
import { invalidField } from '../../errors.ts';
import { compileAlertFilter, wantsAll } from '../alert-filter.ts';
import { comparePlaces, type Place, sortValueOf } from '../alert-order.ts';
import type { AlertListQuery, ListPage, Replay } from '../store.ts';
import { jsonPage } from './page.ts';
import { entryCount, lastSequence, type Tables } from './tables.ts';

/** Where a list goes on: after this place, at this page number. */
interface Cursor extends Place {
  readonly page: number;
}

/**
 * One page of alerts with the exact total. Only sort values of what matches are held, not the alerts. The default
 * list (everything, newest first) reads the index by time instead: no more than its page.
 *
 * @throws INVALID_REQUEST for unknown fields, values, and cursors of another list.
 */
export function listAlerts(tables: Tables, query: AlertListQuery): ListPage {
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, query);
  const page = cursor?.page ?? query.page;
  const { total, places } =
    query.sort === 'last_seen' && wantsAll(query)
      ? placesByTime(tables, query, cursor)
      : placesByScan(tables, query, cursor);
  const shown = places.slice(0, query.per_page);
  const last = shown.at(-1);
  const json = jsonPage(
    shown.map(({ id }) => ({ id, type: 'alert', attributes: tables.alerts.get(id)!.alert })),
  );
  if (last === undefined || places.length <= query.per_page) return { json, total, page };
  return { json, total, page, next_cursor: writeCursor({ ...last, page: page + 1 }, query) };
}

interface Found {
  readonly total: number;
  /** From the first of the page on, at least one more than the page holds where there are more. */
  readonly places: readonly Place[];
}

function placesByTime(tables: Tables, query: AlertListQuery, cursor: Cursor | undefined): Found {
  if (cursor !== undefined && typeof cursor.value !== 'number')
    throw invalidField('cursor', 'is not one of this service');
  const keys = tables.alertTimes.getKeys({
    reverse: query.order === 'desc',
    limit: query.per_page + 1,
    ...(cursor === undefined
      ? { offset: (query.page - 1) * query.per_page }
      : { start: [cursor.value, cursor.id] as [number, string], exclusiveStart: true }),
  });
  return {
    total: entryCount(tables.alerts),
    places: Array.from(keys, ([value, id]) => ({ value, id })),
  };
}

function placesByScan(tables: Tables, query: AlertListQuery, cursor: Cursor | undefined): Found {
  const wanted = compileAlertFilter(query);
  const sortValue = sortValueOf(query.sort);
  const compare = comparePlaces(query.order);
  const all: Place[] = [];
  for (const { value } of tables.alerts.getRange())
    if (wanted(value.alert)) all.push({ value: sortValue(value.alert), id: value.id });
  all.sort(compare);
  const start =
    cursor === undefined
      ? (query.page - 1) * query.per_page
      : all.findIndex((place) => compare(place, cursor) > 0);
  return {
    total: all.length,
    places: start < 0 ? [] : all.slice(start, start + query.per_page + 1),
  };
}

/** Opaque to clients: the list's order with the place, so that a cursor of another list is noticed. */
function writeCursor({ value, id, page }: Cursor, { sort, order }: AlertListQuery): string {
  return Buffer.from(JSON.stringify([sort, order, value ?? null, id, page])).toString('base64url');
}

function readCursor(text: string, { sort, order }: AlertListQuery): Cursor {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    parts = undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 5) throw invalidField('cursor', 'is not one of this service');
  const [sortedBy, ordered, value, id, page] = parts as readonly unknown[];
  if (
    (value !== null && typeof value !== 'number' && typeof value !== 'string') ||
    typeof id !== 'string' ||
    id.length > 36 ||
    !Number.isSafeInteger(page) ||
    (page as number) < 1
  )
    throw invalidField('cursor', 'is not one of this service');
  if (sortedBy !== sort || ordered !== order) throw invalidField('cursor', 'belongs to another list');
  return { value: value ?? undefined, id, page: page as number };
}

/** The latest state of each alert that changed after `since` and is wanted, in order of change. */
export function replayAlerts(
  tables: Tables,
  since: number,
  filter: AlertListQuery,
  limit: number,
): Replay<Alert> {
  const wanted = compileAlertFilter(filter);
  const head = lastSequence(tables.alertLog);
  const events: { seq: number; id: string; data: Alert }[] = [];
  let next = Math.max(since, 0);
  for (const { key, value: id } of tables.alertLog.getRange({ start: next, exclusiveStart: true })) {
    if (events.length === limit) return { events, next, head, lost: 0 };
    const alert = tables.alerts.get(id)!.alert;
    if (wanted(alert)) events.push({ seq: key, id, data: alert });
    next = key;
  }
  return { events, next: head, head, lost: 0 };
}
