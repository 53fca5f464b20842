import type { CallResult } from '../../../client/client.ts';
import { severities } from '../../../contract/vocabulary.ts';
import type { Series } from '../../ui/chart.tsx';
import { title } from '../../ui/format.ts';

export type Histogram = Pick<CallResult<'getAlertHistogram'>['data']['attributes'], 'buckets' | 'bucket_ms'>;

/** Starts of the buckets in epoch seconds, and the end of the last, so that its bar has its room. */
export function timesOf({ buckets, bucket_ms }: Histogram): number[] {
  const starts = buckets.map(({ at }) => Date.parse(at) / 1000);
  const last = starts.at(-1);
  return last === undefined ? [] : [...starts, last + bucket_ms / 1000];
}

/** A bar a bucket, the gravest severity at the bottom. */
export const severityBars = ({ buckets }: Histogram): Series[] =>
  severities
    .filter((severity) => buckets.some(({ by_severity }) => by_severity[severity] !== undefined))
    .map((severity) => ({
      title: title(severity),
      values: [...buckets.map(({ by_severity }) => by_severity[severity] ?? 0), null],
      colour: `--${severity}`,
    }));

/** One bar a bucket, whatever the severity. */
export const countBars = (name: string, colour: string, { buckets }: Histogram): Series => ({
  title: name,
  values: [...buckets.map(({ count }) => count), null],
  colour,
});
