import type { AlertNote } from '../../contract/resources/alert-note.ts';
import { text } from './filter.ts';
import type { ListSpec } from './list.ts';

/** A note with its number, from 1: notes of an alert are numbered as they come. */
export interface NumberedNote {
  readonly number: number;
  readonly note: AlertNote;
}

/** The notes of one alert. By their numbers they are in order of time, those of a millisecond too. */
export const noteListOf = (alertId: string): ListSpec<NumberedNote> => ({
  type: 'alert_note',
  of: alertId,
  terms: { author: text(({ note }) => note.author) },
  sorts: { created_at: ({ number }) => number },
  time: ({ note }) => note.created_at,
  names: ({ note }) => [note.text, note.author],
});
