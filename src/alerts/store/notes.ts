import type { AlertNote } from '../../contract/resources/alert-note.ts';
import { jsonPage } from '../../database/json-page.ts';
import { boundsOnlyTime } from '../../database/lists/filter.ts';
import { type Found, pageFrom, pageOf, type Row } from '../../database/lists/list.ts';
import type { ListPosition } from '../../database/lists/order.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Actor, ListPage, ListQuery } from '../../store/store.ts';
import { canonicalUuid, uuid7 } from '../../uuid.ts';
import { type NumberedNote, noteListOf } from '../lists/alerts.ts';
import type { AlertRow, AlertTables } from './tables.ts';

export type StoredNote = AlertNote & { id: string };

/** Rejects a note on an alert that is at its limit of notes. @throws CONFLICT */
export function requireRoomForNote(row: AlertRow): void {
  if (row.alert.note_count < limits.maxNotesPerAlert) return;
  throw new ServiceError('CONFLICT', `note: alert ${row.id} is at the limit of ${row.alert.note_count} notes`, {
    field: 'note',
    reason: 'the alert has too many notes',
  });
}

/**
 * Writes the next note of an alert; the caller must update the alert's count of notes. Runs within a
 * transaction.
 */
export function putNote(tables: AlertTables, row: AlertRow, text: string, by: Actor, nowMs: number): StoredNote {
  const note: StoredNote = {
    id: uuid7(nowMs),
    alert_id: row.id,
    text,
    author: by.name,
    created_at: new Date(nowMs).toISOString(),
  };
  tables.notes.putSync([row.id, row.alert.note_count + 1], note);
  return note;
}

/**
 * Returns one page of the notes of an alert; empty if there is no such alert. Without a filter, only the page
 * is read.
 */
export function listNotes(tables: AlertTables, alertId: string, query: ListQuery, cancelled: () => boolean): ListPage {
  const alert = canonicalUuid(alertId) ?? '';
  const list = noteListOf(alert);
  const { shown, ...rest } =
    boundsOnlyTime(query) && query.from === undefined && query.to === undefined
      ? pageFrom(list, query, (after, offset) => byNumber(tables, alert, query, after, offset))
      : pageOf(list, rows(tables, alert), query, cancelled);
  const resources = shown.flatMap(({ value }) => {
    const { id, ...attributes } = tables.notes.get([alert, value as number]) ?? {};
    return id === undefined ? [] : { id, type: list.type, attributes };
  });
  return { json: jsonPage(resources, query), ...rest };
}

function* rows({ notes }: AlertTables, alert: string): Generator<Row<NumberedNote>> {
  for (const { key, value } of notes.getRange(rangeOf(alert)))
    yield { id: value.id, item: { number: key[1], note: value } };
}

const rangeOf = (alert: string) => ({
  start: [alert, 0] as [string, number],
  end: [alert, Number.POSITIVE_INFINITY] as [string, number],
});

/** Finds notes by number. The numbers have no gaps. */
function byNumber(
  { alerts, notes }: AlertTables,
  alert: string,
  { order, per_page }: ListQuery,
  after: ListPosition | undefined,
  offset: number,
): Found {
  const total = alerts.get(alert)?.alert.note_count ?? 0;
  const step = order === 'asc' ? 1 : -1;
  const first = after === undefined ? (order === 'asc' ? 1 + offset : total - offset) : Number(after.value) + step;
  const positions: ListPosition[] = [];
  for (let number = first; positions.length <= per_page; number += step) {
    if (number < 1 || number > total) break;
    const note = notes.get([alert, number]);
    if (note !== undefined) positions.push({ value: number, id: note.id });
  }
  return { total, positions };
}
