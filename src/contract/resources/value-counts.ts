import { limits } from '../../limits.ts';
import type { Static } from './common.ts';
import { count, flag, list, ordinal, part, shape, text } from './fields.ts';

/** Frequencies of the values of an attribute in the matching events. */
export const ValueCounts = shape('ValueCounts', {
  of: text('Type of the counted resources.'),
  by: text('Name of the attribute, as in filters.'),
  total: count('Number of matching events.'),
  absent: count('Number of matching events without the attribute.'),
  values: list(
    part('A value.', {
      value: text(
        'Value, in the form that the filter of the same name accepts; names that filters compare case-insensitively are in lower case.',
      ),
      count: ordinal('Exact number of events with the value.'),
    }),
    'The most frequent values. An event with several values (ip, asset_id, answer) counts once for each.',
    { maxItems: limits.maxShownValues },
  ),
  distinct: count('Number of values that were counted separately, including those not listed.'),
  other: count('Sum of the counts of values that are not listed.'),
  complete: flag(
    `Whether all values were counted separately. If false, they exceed ${limits.maxValueTallyBytes / 2 ** 20} MB, and values that only older events have are counted in \`other\`, even if they are frequent.`,
  ),
});
export type ValueCounts = Static<typeof ValueCounts>;
