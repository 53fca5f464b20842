import type { AlertNote } from '../../contract/resources/alert-note.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { canonicalUuid, uuid7 } from '../../uuid.ts';
import type { Actor, ListPage } from '../store.ts';
import { jsonPage } from './page.ts';
import type { AlertRow, Tables } from './tables.ts';

export type StoredNote = AlertNote & { id: string };

/** Refuses a note on an alert that has too many. */
export function requireRoomForNote(row: AlertRow): void {
  if (row.alert.note_count < limits.maxNotesPerAlert) return;
  throw new ServiceError(
    'CONFLICT',
    `alert ${row.id} has ${row.alert.note_count} notes, the most it can have`,
    {
      field: 'note',
      reason: 'the alert has too many notes',
    },
  );
}

/** Writes the next note of an alert; the caller counts it in the alert. Within a transaction. */
export function putNote(tables: Tables, row: AlertRow, text: string, by: Actor, nowMs: number): StoredNote {
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

/** Newest first. Empty for an alert that isn't there. */
export function listNotes(tables: Tables, alertId: string, page: number, perPage: number): ListPage {
  const id = canonicalUuid(alertId);
  const total = id === undefined ? 0 : (tables.alerts.get(id)?.alert.note_count ?? 0);
  const newest = total - (page - 1) * perPage;
  const notes: StoredNote[] = [];
  for (let number = newest; id !== undefined && number > Math.max(0, newest - perPage); number--) {
    const note = tables.notes.get([id, number]);
    if (note !== undefined) notes.push(note);
  }
  return {
    json: jsonPage(notes.map(({ id, ...attributes }) => ({ id, type: 'alert_note', attributes }))),
    total,
    page,
  };
}
