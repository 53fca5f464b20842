import type { CallResult } from '../../../client/client.ts';
import { Chart, type Series } from '../../ui/chart.tsx';
import { bytes, compact, number, percent } from '../../ui/format.ts';
import { Answered, type Asked } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { type Change, changeOf, type MetricText, metricTexts } from './metrics.ts';

type Trends = CallResult<'getTrends'>['data']['attributes'];
type Metric = Trends['metrics'][number];

/** Each metric over the window: its line, the previous period as a faint line, the change and anomalies. */
export function Figures({ trends }: { trends: Asked<CallResult<'getTrends'>> }) {
  return (
    <Answered of={trends} rows={12}>
      {({ data: { attributes } }) =>
        attributes.metrics.map((metric) => <Figure key={metric.metric} metric={metric} of={attributes} />)
      }
    </Answered>
  );
}

function Figure({ metric, of }: { metric: Metric; of: Trends }) {
  const text: MetricText = metricTexts[metric.metric] ?? {
    title: metric.metric,
    isTrouble: false,
    list: '/events?table=network',
  };
  const write = metric.metric === 'bytes' ? bytes : number;
  const change = changeOf(metric.current, metric.previous, metric.change_percent, metric.anomalies.length);
  const times = metric.series.map(({ at }) => Date.parse(at) / 1000);
  const series: Series[] = [
    {
      title: 'Current',
      colour: text.isTrouble ? '--high' : '--series-1',
      values: metric.series.map(({ value }) => value),
    },
    {
      title: 'Previous',
      colour: '--previous',
      previous: true,
      values: aligned(metric),
    },
  ];
  const newest = metric.anomalies.at(-1);
  return (
    <section class="panel overview-figure" aria-label={`${text.title} over time`}>
      <h2>{text.title}</h2>
      <p class="overview-big">
        <a href={`${text.list}&${text.since ?? 'from'}=${of.from}`}>
          {metric.error ? `about ${write(metric.current)}` : write(metric.current)}
        </a>
        <span class="overview-small">
          <ChangeText change={change} previous={metric.previous} write={write} />
        </span>
      </p>
      <Chart
        label={`${text.title}: ${write(metric.current)} in the current period, ${write(metric.previous)} in the previous one, in steps of ${of.bucket_s} seconds`}
        times={times}
        series={series}
        height={96}
        {...(metric.metric === 'bytes' ? { format: bytes, base: 1024 as const } : { format: compact })}
      />
      {newest !== undefined && (
        <p class="overview-anomaly" title={of.method}>
          <span aria-hidden="true">▲ </span>
          unusual <Time at={newest.at} />: {write(newest.value)}, expected {write(Math.round(newest.expected))}
          {metric.anomalies.length > 1 && <span class="quiet"> · {metric.anomalies.length} anomalies</span>}
        </p>
      )}
    </section>
  );
}

/** Aligns the previous period with the current one by bucket. Expired buckets are a gap at the start. */
function aligned({ series, previous_series: previous }: Metric): (number | null)[] {
  const gap = Math.max(0, series.length - 1 - previous.length);
  return [...Array<null>(gap).fill(null), ...previous.map(({ value }) => value)];
}

function ChangeText({
  change,
  previous,
  write,
}: {
  change: Change;
  previous: number;
  write: (value: number) => string;
}) {
  switch (change.kind) {
    case 'none':
      return <span class="quiet">no change</span>;
    case 'new':
      return <span class="quiet">new</span>;
    case 'percent':
      return (
        <span class={change.unusual ? 'overview-unusual' : 'quiet'} title={`Previously ${write(previous)}`}>
          {change.percent > 0 ? '↑ ' : '↓ '}
          {percent(change.percent)}
        </span>
      );
  }
}
