import type { Histogram } from '../../contract/resources/histogram.ts';
import { severities } from '../../contract/vocabulary.ts';
import type { Series } from './chart.tsx';
import { title } from './words.ts';

/** What of a histogram is drawn: buckets of one width, without gaps. */
export type Bars = Pick<Histogram, 'buckets' | 'bucket_ms'>;

/** Starts of the buckets in epoch seconds, and the end of the last, so that its bar has its room. */
export function timesOf({ buckets, bucket_ms }: Bars): number[] {
  const starts = buckets.map(({ at }) => Date.parse(at) / 1000);
  const last = starts.at(-1);
  return last === undefined ? [] : [...starts, last + bucket_ms / 1000];
}

/** A bar a bucket, the gravest severity at the bottom. */
export const severityBars = ({ buckets }: Pick<Bars, 'buckets'>): Series[] =>
  severities
    .filter((severity) => buckets.some(({ by_severity }) => by_severity[severity]))
    .map((severity) => ({
      title: title(severity),
      values: [...buckets.map(({ by_severity }) => by_severity[severity] ?? 0), null],
      colour: `--${severity}`,
    }));

/** One bar a bucket, whatever the severity. */
export const countBars = (name: string, colour: string, { buckets }: Pick<Bars, 'buckets'>): Series => ({
  title: name,
  values: [...buckets.map(({ count }) => count), null],
  colour,
});

/** What a chart draws of a histogram; all but the last of `times` have a bar. */
export interface Drawn {
  readonly times: number[];
  readonly series: Series[];
}

/**
 * Bars by severity, and the period before as a line, bucket beside bucket.
 *
 * @param before - no line where its buckets are of another width: what stands side by side is as long
 */
export function barsOf(histogram: Bars, before?: Bars): Drawn {
  const times = timesOf(histogram);
  const series = severityBars(histogram);
  if (before?.bucket_ms === histogram.bucket_ms && before.buckets.some(({ count }) => count > 0))
    series.push({
      title: 'Period before',
      values: times.map((_, index) => before.buckets[index]?.count ?? null),
      colour: '--previous',
      previous: true,
    });
  return { times, series };
}

/**
 * A span that was dragged over bars, widened to whole ones: half-open, ISO 8601. Counted from where the buckets begin, as
 * those of weeks do not begin with epoch time.
 */
export function zoomed(
  fromMs: number,
  toMs: number,
  { buckets: [first], bucket_ms }: Bars,
): { from: string; to: string } {
  const start = first === undefined ? 0 : Date.parse(first.at);
  const edge = (round: (places: number) => number, ms: number): string =>
    new Date(start + round((ms - start) / bucket_ms) * bucket_ms).toISOString();
  return { from: edge(Math.floor, fromMs), to: edge(Math.ceil, toMs) };
}
