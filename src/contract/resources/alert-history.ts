import { alertActions } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { list, optional, part, shape, text, timestamp, uuid } from './fields.ts';

const tags = (description: string) => optional(list(text('A tag.'), description));

/** One thing that happened to an alert. */
export const AlertHistory = shape('AlertHistory', {
  alert_id: uuid('The alert.'),
  at: timestamp('When.'),
  action: oneOf(alertActions, {
    description:
      'What happened. Occurrences that are merely counted are not told. `raised` and `recurred` (it follows a resolved alert) are how an alert begins, with the severity in `to`; `overridden` is an override of the AI verdict; `triaged` is a change of that verdict after the first one; `silenced` and `unsilenced` name the silence, `folded` and `unfolded` the alert that stands for it.',
  }),
  actor: part(
    {
      id: text('Identifier of the principal; `system` for what findings and the service itself do.'),
      name: optional(text('Name of the principal, as it was then.')),
    },
    'Who.',
  ),
  from: optional(text('What it was; absent where it was nothing.')),
  to: optional(text('What it became; absent where that is nothing.')),
  added: tags('Tags that were added.'),
  removed: tags('Tags that were taken away.'),
  reason: optional(text('Why, where an operator gave a reason.')),
});
export type AlertHistory = Static<typeof AlertHistory>;
