import type { AlertNote } from '../../contract/resources/alert-note.ts';
import { text } from './filter.ts';
import type { ListSpec } from './list.ts';

/** A note with its number, from 1: notes of an alert are numbered in order of arrival. */
export interface NumberedNote {
  readonly number: number;
  readonly note: AlertNote;
}

/** The notes of one alert. Sorting by number gives the order of time, also within a millisecond. */
export const noteListOf = (alertId: string): ListSpec<NumberedNote> => ({
  type: 'alert_note',
  of: alertId,
  terms: { author: text(({ note }) => note.author) },
  sorts: { created_at: ({ number }) => number },
  time: ({ note }) => note.created_at,
  names: ({ note }) => [note.text, note.author],
});
