import type { Static } from './common.ts';
import { shape, text, timestamp, uuid } from './fields.ts';

export const AlertNote = shape('AlertNote', {
  alert_id: uuid('The alert it is attached to.'),
  text: text('What was noted.', { minLength: 1, maxLength: 10_000 }),
  author: text('Name of the principal who wrote it.'),
  created_at: timestamp('When.'),
});
export type AlertNote = Static<typeof AlertNote>;

export const AlertNoteInput = shape('AlertNoteInput', {
  text: text('What is to be noted.', { minLength: 1, maxLength: 10_000 }),
});
export type AlertNoteInput = Static<typeof AlertNoteInput>;
