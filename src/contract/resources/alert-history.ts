import { alertActions } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { list, optional, part, shape, text, timestamp, uuid } from './fields.ts';

const tags = (description: string) => optional(list(text('A tag.'), description));

/** One change of an alert. */
export const AlertHistory = shape('AlertHistory', {
  alert_id: uuid('Identifier of the alert.'),
  at: timestamp('Time of the change.'),
  action: oneOf(
    alertActions,
    'Kind of change. Further occurrences of an alert are not recorded. An alert starts with `raised`, or with `recurred` if it follows a resolved alert; `to` is its severity. `overridden` is an override of the AI verdict, `triaged` a change of that verdict after the first one. `silenced` and `unsilenced` name the silence, `folded` and `unfolded` the summary alert.',
  ),
  actor: part('Principal that made the change.', {
    id: text('Identifier of the principal; `system` for changes by findings or by the service.'),
    name: optional(text('Name of the principal at that time.')),
  }),
  from: optional(text('Previous value; absent if it was empty.')),
  to: optional(text('New value; absent if it is empty.')),
  added: tags('Tags that were added.'),
  removed: tags('Tags that were removed.'),
  reason: optional(text('Reason, if the user gave one.')),
});
export type AlertHistory = Static<typeof AlertHistory>;
