import type { Static } from './common.ts';
import { anyObject, shape, text, timestamp } from './fields.ts';

/** Keeps matching findings from becoming alerts, for a time. */
export const Silence = shape('Silence', {
  matcher: anyObject('Attributes of an alert and the values that they must have.'),
  reason: text('Why.', { minLength: 1, maxLength: 2000 }),
  owner: text('Who answers for it.'),
  expires_at: timestamp('When it ends.'),
});
export type Silence = Static<typeof Silence>;
