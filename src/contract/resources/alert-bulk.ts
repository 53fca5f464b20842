import { type ErrorCode, errorCodes } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { AlertUpdateInput } from './alert.ts';
import { oneOf, type Static } from './common.ts';
import { anyObject, count, list, optional, part, shape, text, uuid } from './fields.ts';

/** Body of `POST /api/v1/alerts/bulk`: one change, and the alerts to apply it to. */
export const AlertBulkInput = shape('AlertBulkInput', {
  ids: optional(
    list(
      uuid('Identifier of an alert.'),
      'Alerts to change, if there is no `filter`. Repeated identifiers count once.',
      {
        minItems: 1,
        maxItems: limits.maxBulkIds,
      },
    ),
  ),
  filter: optional(
    anyObject(
      `Filters as in the list of alerts, by name, each with a value or an array of values; \`{}\` matches all alerts. The alerts are selected once, before the first change; if more than ${limits.maxBulkAlerts} match, the request is rejected with their number.`,
    ),
  ),
  change: AlertUpdateInput,
});
export type AlertBulkInput = Static<typeof AlertBulkInput>;

/** Result of a bulk update. Other alerts are changed even if the change of one alert fails. */
export const AlertBulkAnswer = part('Result of the bulk update.', {
  matched: count('Number of alerts that were named or matched.'),
  changed: count('Number of alerts that were changed.'),
  unchanged: count('Number of alerts that already had the requested values.'),
  failed_total: count('Number of alerts that could not be changed.'),
  failed: list(
    part('An alert that could not be changed.', {
      id: uuid('Identifier of the alert.'),
      code: oneOf(Object.keys(errorCodes) as ErrorCode[], 'Error code.'),
      reason: text('Error message.'),
    }),
    `The first ${limits.maxReportedErrors} alerts that could not be changed.`,
    { maxItems: limits.maxReportedErrors },
  ),
});
export type AlertBulkAnswer = Static<typeof AlertBulkAnswer>;
