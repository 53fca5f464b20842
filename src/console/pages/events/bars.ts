import type { CallResult } from '../../../client/client.ts';
import { severities } from '../../../contract/vocabulary.ts';
import type { Series } from '../../ui/chart.tsx';

export type Histogram = CallResult<'getNetworkEventHistogram'>['data']['attributes'];

/**
 * What the chart draws of a histogram: bars with the gravest severity at the bottom, and a foot in the colour of the
 * gravest where there is more than informational. `times` are epoch seconds and end with that of the end, so that the last
 * bar has its room.
 */
export function barsOf({ buckets, bucket_ms }: Pick<Histogram, 'buckets' | 'bucket_ms'>): {
  times: number[];
  series: Series[];
  feet: (string | undefined)[];
} {
  const starts = buckets.map(({ at }) => Date.parse(at) / 1000);
  const last = starts.at(-1);
  const times = last === undefined ? [] : [...starts, last + bucket_ms / 1000];
  const present = severities.filter((severity) =>
    buckets.some(({ by_severity }) => by_severity[severity] !== undefined),
  );
  return {
    times,
    series: present.map((severity) => ({
      title: severity.charAt(0).toUpperCase() + severity.slice(1),
      values: [...buckets.map(({ by_severity }) => by_severity[severity] ?? 0), null],
      colour: `--${severity}`,
    })),
    feet: buckets.map(({ by_severity }) => {
      const worst = severities.findLast((severity) => by_severity[severity] !== undefined);
      return worst === undefined || worst === 'informational' ? undefined : `--${worst}`;
    }),
  };
}

/** A span that was dragged, widened to whole buckets: half-open, ISO 8601. */
export function zoomed(fromMs: number, toMs: number, bucketMs: number): { from: string; to: string } {
  return {
    from: new Date(Math.floor(fromMs / bucketMs) * bucketMs).toISOString(),
    to: new Date(Math.ceil(toMs / bucketMs) * bucketMs).toISOString(),
  };
}
