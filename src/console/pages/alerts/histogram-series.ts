import type { CallResult } from '../../../client/client.ts';
import { severities } from '../../../contract/vocabulary.ts';
import type { Series } from '../../ui/chart.tsx';
import { title } from '../../ui/words.ts';

export type Histogram = CallResult<'getAlertHistogram'>['data']['attributes'];

/** The span of the same length before, half-open; undefined where there is none to compare with. */
export function periodBefore(from: string | undefined, to: string): { from: string; to: string } | undefined {
  if (from === undefined) return undefined;
  const start = Date.parse(from);
  const length = Date.parse(to) - start;
  return length > 0 ? { from: new Date(start - length).toISOString(), to: from } : undefined;
}

/**
 * What the chart draws: a bar a bucket, the gravest severity at the bottom, and the period before as a line. `times` are
 * epoch seconds and end with that of the end, so that the last bar has its room.
 */
export function barsOf(
  { buckets, bucket_ms }: Pick<Histogram, 'buckets' | 'bucket_ms'>,
  before: Pick<Histogram, 'buckets'> | undefined,
): { times: number[]; series: Series[] } {
  const starts = buckets.map(({ at }) => Date.parse(at) / 1000);
  const last = starts.at(-1);
  const times = last === undefined ? [] : [...starts, last + bucket_ms / 1000];
  const present = severities.filter((severity) => buckets.some(({ by_severity }) => by_severity[severity]));
  const series: Series[] = present.map((severity) => ({
    title: title(severity),
    values: [...buckets.map(({ by_severity }) => by_severity[severity] ?? 0), null],
    colour: `--${severity}`,
  }));
  if (before?.buckets.some(({ count }) => count > 0))
    series.push({
      title: 'Period before',
      values: times.map((_, index) => before.buckets[index]?.count ?? null),
      colour: '--previous',
      previous: true,
    });
  return { times, series };
}

/** A span that was dragged, widened to whole buckets: half-open, ISO 8601. */
export function zoomed(fromMs: number, toMs: number, bucketMs: number): { from: string; to: string } {
  return {
    from: new Date(Math.floor(fromMs / bucketMs) * bucketMs).toISOString(),
    to: new Date(Math.ceil(toMs / bucketMs) * bucketMs).toISOString(),
  };
}

/** How the number of one period stands to that before, in per cent; undefined where there was nothing. */
export const changeOf = (now: number, before: number | undefined): number | undefined =>
  before === undefined || before === 0 ? undefined : ((now - before) / before) * 100;
