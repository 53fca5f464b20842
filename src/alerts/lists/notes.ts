import type { AlertNote } from '../../contract/resources/alert-note.ts';
import { text } from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';

/**
 * A note with its number. The notes of an alert are numbered from 1 in the order in which they were written.
 */
export interface NumberedNote {
  readonly number: number;
  readonly note: AlertNote;
}

/**
 * Returns the definition of the list of one alert's notes. Sorting by number gives the order of time, even
 * within a millisecond.
 */
export const noteListOf = (alertId: string): ListSpec<NumberedNote> => ({
  type: 'alert_note',
  of: alertId,
  terms: { author: text(({ note }) => note.author) },
  sorts: { created_at: ({ number }) => number },
  time: ({ note }) => note.created_at,
  names: ({ note }) => [note.text, note.author],
});
