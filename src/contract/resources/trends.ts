import type { Static } from './common.ts';
import { Point, window } from './dashboard.ts';
import { count, list, optional, part, real, shape, text, timestamp } from './fields.ts';

export const Trends = shape('Trends', {
  window,
  from: timestamp('Start of the window: that of the minute, hour or day in which it began.'),
  to: timestamp('End of the window: now.'),
  previous_from: timestamp('Start of the window before, which ends where this one starts.'),
  bucket_s: count('Width of the buckets of series, in seconds.'),
  method: text('How anomalies are found.'),
  metrics: list(
    part(
      {
        metric: text('Which metric.'),
        series: list(Point, 'Its buckets, oldest first.'),
        previous_series: list(
          Point,
          'Those of the window before, oldest first: as far back as buckets of this width are kept.',
        ),
        current: real('Total of this window; of different ones, how many there were in all of it.'),
        previous: real('Total of the window before.'),
        error: optional(
          real(
            'Standard error of both, as a part of them: of numbers of different ones that are estimated.',
            {
              minimum: 0,
            },
          ),
        ),
        change_percent: optional(
          real(
            'From previous to current; of totals by the average per time, because this window is longer by up to a bucket. Absent where previous is 0.',
          ),
        ),
        anomalies: list(
          part(
            {
              at: timestamp('Start of the bucket.'),
              value: real('What was seen.'),
              expected: real('What was to be expected: the median of the buckets that it is compared with.'),
              score: real('How far off, in robust standard deviations.'),
            },
            'A bucket out of the ordinary.',
          ),
          'Buckets out of the ordinary; never of `alerts`, which move to the bucket in which they are last seen.',
        ),
      },
      'One metric.',
    ),
    'The metrics.',
  ),
});
export type Trends = Static<typeof Trends>;
