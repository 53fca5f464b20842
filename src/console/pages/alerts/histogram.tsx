import { useMemo } from 'preact/hooks';
import { setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { recently } from '../../state/clock.ts';
import { shownRange } from '../../state/range.ts';
import { Button } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { number, percent, within } from '../../ui/format.ts';
import { barsOf, zoomed } from '../../ui/histogram-bars.ts';
import { changeOf, periodBefore } from './histogram-series.ts';
import type { Filters } from './question.ts';

/** As many bars as there is room for. */
const maxBars = 80;
const refreshMs = 30_000;

/** Alerts are whole: between them the axis says nothing. */
const whole = (value: number): string => (Number.isInteger(value) ? number(value) : '');

/** When the alerts that are asked for were last seen, by severity; a span that is dragged becomes the time of the page. */
export function AlertHistogram({ filters }: { filters: Filters }) {
  const { name, from, to } = shownRange();
  const end = to ?? new Date(Math.ceil(recently.value / 30_000) * 30_000).toISOString();
  const before = periodBefore(from, end);
  const ask = (range: { from?: string; to: string }) =>
    ({ query: { ...filters, ...range, buckets: maxBars } }) as never;
  // Without an end of its own it is another question every half minute.
  const now = useAnswer(
    'getAlertHistogram',
    ask({ ...(from !== undefined && { from }), to: end }),
    to === undefined ? {} : { refreshMs },
  );
  const then = useAnswer('getAlertHistogram', ask(before ?? { to: end }), { enabled: before !== undefined });
  const shown = now.data?.data.attributes;
  const compared = before === undefined ? undefined : then.data?.data.attributes;
  const { times, series } = useMemo(
    () => (shown === undefined ? { times: [], series: [] } : barsOf(shown, compared)),
    [shown, compared],
  );
  if (now.error !== null && shown === undefined)
    return (
      <div class="alert-histogram alert-histogram-empty">
        <span class="quiet">When they came cannot be shown: {now.error.message}</span>
        <Button kind="plain" onClick={() => void now.refetch()}>
          Try again
        </Button>
      </div>
    );
  if (shown === undefined) return <div class="alert-histogram" role="status" aria-label="Loading" />;
  if (shown.total === 0 && (compared?.total ?? 0) === 0)
    return (
      <div class="alert-histogram alert-histogram-empty">
        <span class="quiet">
          None{within(from, to)}
          {before !== undefined && ', nor in the period before'}.
        </span>
      </div>
    );
  const change = changeOf(shown.total, compared?.total);
  return (
    <div class="alert-histogram">
      <Chart
        label={`${number(shown.total)} alerts over time, by severity${
          change === undefined ? '' : `, ${percent(change)} against the period before`
        }. Drag to choose a time.`}
        times={times}
        series={series}
        kind="bars"
        height={96}
        format={whole}
        onZoom={(start, stop) =>
          setParams({ ...zoomed(start, stop, shown), range: undefined, id: undefined })
        }
      />
      {now.error !== null && (
        <p class="alert-histogram-change quiet" title={now.error.message}>
          as it was before; asking again
        </p>
      )}
      {now.error === null && change !== undefined && name !== 'all' && (
        <p class="alert-histogram-change quiet">
          {percent(change)} <span class="alert-histogram-words">against the period before</span>
        </p>
      )}
    </div>
  );
}
