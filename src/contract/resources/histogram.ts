import { limits } from '../../limits.ts';
import type { Severity } from '../vocabulary.ts';
import type { Static } from './common.ts';
import { count, list, optional, ordinal, part, shape, text, timestamp } from './fields.ts';

const bySeverity = part(
  {
    informational: optional(ordinal('Of severity informational.')),
    low: optional(ordinal('Of severity low.')),
    medium: optional(ordinal('Of severity medium.')),
    high: optional(ordinal('Of severity high.')),
    critical: optional(ordinal('Of severity critical.')),
  } satisfies Record<Severity, unknown>,
  'The same by severity: those that there are.',
);

/** How many there are of a time, bucket by bucket: events by `timestamp`, alerts by `last_seen`. */
export const Histogram = shape('Histogram', {
  of: text('Type of the resources that are counted.'),
  from: timestamp(
    'Start of the time looked at: as asked, else the time of the oldest that is stored, whether it matches or not.',
  ),
  to: timestamp(
    'End of the time looked at, itself not in it: as asked, else just behind the newest that is stored.',
  ),
  bucket_ms: ordinal(
    'Width of each bucket in milliseconds: a round number of seconds, minutes, hours or days, the least with which no more buckets are needed than were asked for.',
  ),
  total: count('All that match.'),
  buckets: list(
    part(
      {
        at: timestamp(
          'Its start, a multiple of the width (of UTC; weeks begin on Mondays). Only what lies between `from` and `to` is counted in it.',
        ),
        count: count('How many match.'),
        by_severity: bySeverity,
      },
      'A bucket: from its start to that of the next.',
    ),
    'The buckets in order of time, empty ones too; none where a bound is left out and nothing is stored.',
    { maxItems: limits.maxHistogramBuckets },
  ),
});
export type Histogram = Static<typeof Histogram>;
