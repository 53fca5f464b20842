import type { Trends } from '../contract/resources/trends.ts';
import { widthMs } from '../rollups/model/levels.ts';
import { type Counter, type DistinctCounter, distincts, type Rollup } from '../rollups/model/rollup.ts';
import { type AlertTally, type Metric, metrics, type RollupView } from '../rollups/model/view.ts';
import { standardError } from '../sketch/client-count.ts';
import type { StoreReader } from '../store/store.ts';
import { anomalies, method } from './anomalies.ts';
import { points, rollupQuery, shown, type WindowQuery } from './window.ts';

/**
 * Compares each metric of a window with the previous window, and finds anomalous buckets. No anomalies are
 * reported for alerts, because recurring alerts are always counted in the newest buckets.
 */
export function trends(reader: Pick<StoreReader, 'rollups'>, query: WindowQuery): Trends {
  const asked = rollupQuery(query, true);
  const { unit, from, previousFrom, seriesFrom, now } = asked;
  const view = reader.rollups(asked);
  const width = widthMs[unit];
  const history = (from - seriesFrom) / width;
  const before = Math.max(seriesFrom, previousFrom);
  const known = firstWhole(view, seriesFrom);
  const longer = (now - from) / (from - previousFrom);
  return {
    window: query.window,
    from: new Date(from).toISOString(),
    to: new Date(now).toISOString(),
    previous_from: new Date(previousFrom).toISOString(),
    bucket_s: width / 1000,
    method,
    metrics: metrics.map((metric) => {
      const series = view.series[metric];
      const current = totalOf(metric, view.current, view.currentAlerts);
      const previous = totalOf(metric, view.previous, view.previousAlerts);
      const isSum = !isDistinct(metric);
      return {
        metric,
        series: points(series.subarray(history), from, unit),
        previous_series: points(series.subarray((before - seriesFrom) / width, history), before, unit),
        current,
        previous,
        ...(isSum ? {} : { error: errorOf(metric, view.current, view.previous) }),
        ...(previous === 0 ? {} : { change_percent: 100 * (current / previous / (isSum ? longer : 1) - 1) }),
        anomalies: (metric === 'alerts' ? [] : anomalies(series, unit, known, history)).map(
          ({ place, value, expected, score }) => ({
            at: new Date(seriesFrom + place * width).toISOString(),
            value: shown(value),
            expected,
            score,
          }),
        ),
      };
    }),
  };
}

/**
 * Returns the index of the first complete bucket: 0 if recording began before the series, otherwise the bucket after
 * the first count. Returns infinity if recording has not begun.
 */
function firstWhole({ begins, series }: RollupView, seriesFrom: number): number {
  if (begins === undefined) return Number.POSITIVE_INFINITY;
  if (begins < seriesFrom) return 0;
  const isEmpty = (place: number) => metrics.every((metric) => series[metric][place] === 0);
  let place = 0;
  while (place < series.alerts.length && isEmpty(place)) place++;
  return place + 1;
}

const isDistinct = (metric: Metric): metric is DistinctCounter => (distincts as readonly string[]).includes(metric);

function totalOf(metric: Metric, rollup: Rollup, alerts: AlertTally): number {
  if (metric === 'alerts') return alerts.total;
  return isDistinct(metric) ? rollup.different(metric) : shown(rollup.count(metric satisfies Counter));
}

const errorOf = (of: DistinctCounter, ...rollups: readonly Rollup[]): number =>
  rollups.every((rollup) => rollup.isExact(of)) ? 0 : standardError;
