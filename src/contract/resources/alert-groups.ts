import { limits } from '../../limits.ts';
import { alertGroupings, type alertStatuses } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, flag, list, optional, ordinal, part, severity, text, timestamp } from './fields.ts';

const statuses = part('Number of alerts by status.', {
  new: count('Number of new alerts.'),
  in_progress: count('Number of alerts in progress.'),
  resolved: count('Number of resolved alerts.'),
  suppressed: count('Number of suppressed alerts.'),
  archived: count('Number of archived alerts.'),
} satisfies Record<(typeof alertStatuses)[number], unknown>);

/** Response of `GET /api/v1/alerts/groups`. */
export const AlertGroups = part('Alerts grouped by an attribute.', {
  by: oneOf(alertGroupings, 'Attribute by which the alerts are grouped.'),
  groups: list(
    part('Alerts that share a value.', {
      value: optional(
        text('Value that the alerts of the group share; absent for the group of alerts without the attribute.'),
      ),
      alerts: ordinal('Number of alerts in the group.'),
      findings: ordinal('Sum of the occurrences of these alerts.'),
      severity: severity('Highest severity in the group.'),
      first_seen: timestamp('First occurrence, in event time.'),
      last_seen: timestamp('Last occurrence, in event time.'),
      statuses,
    }),
    'The largest groups: most alerts first, then most findings.',
    { maxItems: limits.maxPerPage },
  ),
  alerts: count('Number of matching alerts, each counted once.'),
  findings: count('Sum of the occurrences of the matching alerts.'),
  distinct: count('Number of groups that were counted separately, including those not listed.'),
  others: part(
    'Exact totals of the groups that are not listed. When grouped by asset_id, an alert counts for each of its assets.',
    {
      alerts: count('Number of alerts in groups that are not listed.'),
      findings: count('Sum of the occurrences of alerts in groups that are not listed.'),
    },
  ),
  complete: flag(
    `Whether all groups were counted separately. If false, there are more than ${limits.maxAlertGroups} groups, and values that only older alerts have are counted in \`others\`, even if they are frequent.`,
  ),
});
export type AlertGroups = Static<typeof AlertGroups>;
export type AlertGroup = AlertGroups['groups'][number];
