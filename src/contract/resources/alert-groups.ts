import { limits } from '../../limits.ts';
import { alertGroupings, type alertStatuses } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { count, flag, list, optional, ordinal, part, severity, text, timestamp } from './fields.ts';

const statuses = part(
  {
    new: count('Alerts that nobody has looked at.'),
    in_progress: count('Alerts that somebody works on.'),
    resolved: count('Alerts that are resolved.'),
    suppressed: count('Alerts that are suppressed.'),
    archived: count('Alerts that are archived.'),
  } satisfies Record<(typeof alertStatuses)[number], unknown>,
  'Alerts by status.',
);

/** What `GET /api/v1/alerts/groups` answers. */
export const AlertGroups = part(
  {
    by: oneOf(alertGroupings, { description: 'What the alerts of a group share.' }),
    groups: list(
      part(
        {
          value: optional(text('What they share; absent for the group of those that lack it.')),
          alerts: ordinal('Alerts of the group.'),
          findings: ordinal('Occurrences that they count.'),
          severity: severity('The highest of their severities.'),
          first_seen: timestamp('First occurrence, in event time.'),
          last_seen: timestamp('Last occurrence, in event time.'),
          statuses,
        },
        'Alerts that have a value in common.',
      ),
      'The largest groups: most alerts first, then most findings.',
      { maxItems: limits.maxPerPage },
    ),
    alerts: count('Alerts that match, each once.'),
    findings: count('Occurrences that these count.'),
    distinct: count('Groups that were told apart, shown or not.'),
    others: part(
      { alerts: count('Alerts of groups that are not shown.'), findings: count('Their occurrences.') },
      'What is not in the groups shown, exactly. By asset_id, an alert counts for each of its assets.',
    ),
    complete: flag(
      `Whether all groups were told apart. If not, there are more than ${limits.maxAlertGroups}, and values that only older alerts have are counted in \`others\`, however many these are.`,
    ),
  },
  'Alerts by what they have in common.',
);
export type AlertGroups = Static<typeof AlertGroups>;
export type AlertGroup = AlertGroups['groups'][number];
