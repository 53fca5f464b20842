import type { Static } from './common.ts';
import { shape, text, timestamp, uuid } from './fields.ts';

export const AlertNote = shape('AlertNote', {
  alert_id: uuid('Identifier of the alert that the note belongs to.'),
  text: text('Text of the note.', { minLength: 1, maxLength: 10_000 }),
  author: text('Name of the principal who wrote the note.'),
  created_at: timestamp('Time at which the note was added.'),
});
export type AlertNote = Static<typeof AlertNote>;

export const AlertNoteInput = shape('AlertNoteInput', {
  text: text('Text of the note.', { minLength: 1, maxLength: 10_000 }),
});
export type AlertNoteInput = Static<typeof AlertNoteInput>;
