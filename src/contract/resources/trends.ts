import type { Static } from './common.ts';
import { Point, window } from './dashboard.ts';
import { count, list, optional, part, real, shape, text, timestamp } from './fields.ts';

export const Trends = shape('Trends', {
  window,
  from: timestamp('Start of the window, rounded down to the minute, hour or day.'),
  to: timestamp('End of the window: now.'),
  previous_from: timestamp('Start of the previous window, which ends where the current one starts.'),
  bucket_s: count('Width of the buckets of series, in seconds.'),
  method: text('Method of anomaly detection.'),
  metrics: list(
    part('A metric.', {
      metric: text('Name of the metric.'),
      series: list(Point, 'Buckets, oldest first.'),
      previous_series: list(
        Point,
        'Buckets of the previous window, oldest first, as far back as buckets of this width are retained.',
      ),
      current: real('Total of the current window; for distinct values, their number in the whole window.'),
      previous: real('Total of the previous window.'),
      error: optional(
        real('Relative standard error of both totals, for estimated numbers of distinct values.', {
          minimum: 0,
        }),
      ),
      change_percent: optional(
        real(
          'Change from previous to current in percent. Totals are compared as rates, because the current window is longer by up to one bucket. Absent if previous is 0.',
        ),
      ),
      anomalies: list(
        part('An anomalous bucket.', {
          at: timestamp('Start of the bucket.'),
          value: real('Observed value.'),
          expected: real('Expected value: the median of the buckets used for comparison.'),
          score: real('Deviation in robust standard deviations.'),
        }),
        'Anomalous buckets. Always empty for `alerts`, because an alert moves to the bucket in which it was last seen.',
      ),
    }),
    'The metrics.',
  ),
});
export type Trends = Static<typeof Trends>;
