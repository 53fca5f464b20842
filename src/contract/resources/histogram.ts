import { limits } from '../../limits.ts';
import type { Severity } from '../vocabulary.ts';
import type { Static } from './common.ts';
import { count, list, optional, ordinal, part, shape, text, timestamp } from './fields.ts';

const bySeverity = part('Counts by severity; zero counts are absent.', {
  informational: optional(ordinal('Number with severity informational.')),
  low: optional(ordinal('Number with severity low.')),
  medium: optional(ordinal('Number with severity medium.')),
  high: optional(ordinal('Number with severity high.')),
  critical: optional(ordinal('Number with severity critical.')),
} satisfies Record<Severity, unknown>);

/** Counts per time bucket: events by `timestamp`, alerts by `last_seen`. */
export const Histogram = shape('Histogram', {
  of: text('Type of the counted resources.'),
  from: timestamp(
    'Start of the time range: as requested, else the time of the oldest stored item, even if it does not match.',
  ),
  to: timestamp('End of the time range, exclusive: as requested, else just after the newest stored item.'),
  bucket_ms: ordinal(
    'Width of each bucket in milliseconds: the smallest round number of seconds, minutes, hours or days that needs no more buckets than requested.',
  ),
  total: count('Number of matching items.'),
  buckets: list(
    part('A bucket, which ends where the next one starts.', {
      at: timestamp(
        'Start of the bucket, a multiple of the width in UTC (weeks start on Monday). Only items between `from` and `to` count.',
      ),
      count: count('Number of matching items in the bucket.'),
      by_severity: bySeverity,
    }),
    'Buckets in order of time, including empty ones. Empty if a bound is missing and nothing is stored.',
    { maxItems: limits.maxHistogramBuckets },
  ),
});
export type Histogram = Static<typeof Histogram>;
