import { limits } from '../../limits.ts';
import type { Static } from './common.ts';
import { count, flag, list, ordinal, part, shape, text } from './fields.ts';

/** How often each value of an attribute is there among the events that match. */
export const ValueCounts = shape('ValueCounts', {
  of: text('Type of the resources that are counted.'),
  by: text('The attribute, as filters name it.'),
  total: count('Events that match.'),
  absent: count('Those of them that lack the attribute.'),
  values: list(
    part(
      {
        value: text(
          'As the filter of this name takes it; of names that filters compare without case, in lower case.',
        ),
        count: ordinal('Events that have it, exactly.'),
      },
      'A value.',
    ),
    'The most frequent. An event that has several (ip, asset_id, answer) counts once for each of them.',
    { maxItems: limits.maxShownValues },
  ),
  distinct: count('Values that were told apart, shown or not.'),
  other: count('What the values that are not shown count together.'),
  complete: flag(
    `Whether all values were told apart. If not, there are so many that they do not fit into ${limits.maxValueTallyBytes / 2 ** 20} MB: those that only older events have are counted in \`other\`, however often they are there.`,
  ),
});
export type ValueCounts = Static<typeof ValueCounts>;
