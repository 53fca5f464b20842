import type { Histogram } from '../../contract/resources/histogram.ts';
import { severities } from '../../contract/vocabulary.ts';
import type { Series } from './chart.tsx';
import { title } from './words.ts';

/** The part of a histogram that is drawn: buckets of equal width, without gaps. */
export type Bars = Pick<Histogram, 'buckets' | 'bucket_ms'>;

/** Returns the starts of the buckets in epoch seconds, and the end of the last bucket so that its bar has room. */
export function timesOf({ buckets, bucket_ms }: Bars): number[] {
  const starts = buckets.map(({ at }) => Date.parse(at) / 1000);
  const last = starts.at(-1);
  return last === undefined ? [] : [...starts, last + bucket_ms / 1000];
}

/** Returns one bar per bucket, stacked by severity with the highest at the bottom. */
export const severityBars = ({ buckets }: Pick<Bars, 'buckets'>): Series[] =>
  severities
    .filter((severity) => buckets.some(({ by_severity }) => by_severity[severity]))
    .map((severity) => ({
      title: title(severity),
      values: [...buckets.map(({ by_severity }) => by_severity[severity] ?? 0), null],
      colour: `--${severity}`,
    }));

/** Returns one bar per bucket for all severities together. */
export const countBars = (name: string, colour: string, { buckets }: Pick<Bars, 'buckets'>): Series => ({
  title: name,
  values: [...buckets.map(({ count }) => count), null],
  colour,
});

/** Chart data of a histogram. All but the last of `times` have a bar. */
export interface Drawn {
  readonly times: number[];
  readonly series: Series[];
}

/**
 * Returns bars by severity, and the previous period as a line, aligned by bucket.
 *
 * @param before - the previous period; omitted from the chart if its buckets have another width
 */
export function barsOf(histogram: Bars, before?: Bars): Drawn {
  const times = timesOf(histogram);
  const series = severityBars(histogram);
  if (before?.bucket_ms === histogram.bucket_ms && before.buckets.some(({ count }) => count > 0))
    series.push({
      title: 'Previous period',
      values: times.map((_, index) => before.buckets[index]?.count ?? null),
      colour: '--previous',
      previous: true,
    });
  return { times, series };
}

/**
 * Extends a range dragged over bars to whole bars: half-open, ISO 8601. Counts from the first bucket, because
 * weekly buckets are not aligned with epoch time.
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
