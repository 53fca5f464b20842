import { type ErrorCode, errorCodes } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { AlertUpdateInput } from './alert.ts';
import { oneOf, type Static } from './common.ts';
import { anyObject, count, list, optional, part, shape, text, uuid } from './fields.ts';

/** What `POST /api/v1/alerts/bulk` takes: one change, and to which alerts. */
export const AlertBulkInput = shape('AlertBulkInput', {
  ids: optional(
    list(uuid('An alert.'), 'The alerts, each changed once however often it is named; or `filter`.', {
      minItems: 1,
      maxItems: limits.maxBulkIds,
    }),
  ),
  filter: optional(
    anyObject(
      `Filters of the list of alerts by name, each with a value or an array of values; \`{}\` is all alerts. Which alerts they are is decided once, before the first is changed; more than ${limits.maxBulkAlerts} are refused with their number.`,
    ),
  ),
  change: AlertUpdateInput,
});
export type AlertBulkInput = Static<typeof AlertBulkInput>;

/** What became of it. Alerts that could not be changed don't keep others from being changed. */
export const AlertBulkAnswer = part(
  {
    matched: count('Alerts that were named or matched.'),
    changed: count('Alerts that were changed.'),
    unchanged: count('Alerts that were so already.'),
    failed_total: count('Alerts that could not be changed.'),
    failed: list(
      part(
        {
          id: uuid('The alert.'),
          code: oneOf(Object.keys(errorCodes) as ErrorCode[], { description: 'For machines.' }),
          reason: text('For people.'),
        },
        'An alert that could not be changed.',
      ),
      `The first ${limits.maxReportedErrors} of these.`,
      { maxItems: limits.maxReportedErrors },
    ),
  },
  'What became of the alerts.',
);
export type AlertBulkAnswer = Static<typeof AlertBulkAnswer>;
