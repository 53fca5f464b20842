import type { Static } from './common.ts';
import { Point, window } from './dashboard.ts';
import { list, optional, part, real, shape, text, timestamp } from './fields.ts';

export const Trends = shape('Trends', {
  window,
  metrics: list(
    part(
      {
        metric: text('Which metric.'),
        series: list(Point, 'Its buckets, oldest first.'),
        current: real('Total of this window.'),
        previous: real('Total of the window before.'),
        change_percent: optional(real('From previous to current; absent where previous is 0.')),
        anomalies: list(
          part(
            {
              at: timestamp('Start of the bucket.'),
              value: real('What was seen.'),
              expected: real('What was to be expected.'),
              score: real('How far off, in robust standard deviations.'),
            },
            'A bucket out of the ordinary.',
          ),
          'Buckets out of the ordinary.',
        ),
      },
      'One metric.',
    ),
    'The metrics.',
  ),
});
export type Trends = Static<typeof Trends>;
