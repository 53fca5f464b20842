import { useMemo } from 'preact/hooks';
import { setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { recently } from '../../state/clock.ts';
import { shownRange } from '../../state/range.ts';
import { Button } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { counted, number, percent, within } from '../../ui/format.ts';
import { barsOf, zoomed } from '../../ui/histogram-bars.ts';
import { changeOf, periodBefore } from './histogram-series.ts';
import type { Filters } from './question.ts';

/** Maximum number of bars that fit. */
const maxBars = 80;
const refreshMs = 30_000;

/** Formats only integers as labels, because counts have no fractions. */
const whole = (value: number): string => (Number.isInteger(value) ? number(value) : '');

/** Matching alerts by last-seen time and severity. Dragging across the histogram sets the time range of the page. */
export function AlertHistogram({ filters }: { filters: Filters }) {
  const { name, from, to } = shownRange();
  const end = to ?? new Date(Math.ceil(recently.value / 30_000) * 30_000).toISOString();
  const before = periodBefore(from, end);
  const ask = (range: { from?: string; to: string }) =>
    ({ query: { ...filters, ...range, buckets: maxBars } }) as never;
  // A range without an end gets a new query key every 30 seconds.
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
        <span class="quiet">Histogram unavailable: {now.error.message}</span>
        <Button kind="plain" onClick={() => void now.refetch()}>
          Retry
        </Button>
      </div>
    );
  if (shown === undefined) return <div class="alert-histogram" role="status" aria-label="Loading" />;
  if (shown.total === 0 && (compared?.total ?? 0) === 0)
    return (
      <div class="alert-histogram alert-histogram-empty">
        <span class="quiet">
          No alerts{within(from, to)}
          {before !== undefined && ' or in the previous period'}.
        </span>
      </div>
    );
  const change = changeOf(shown.total, compared?.total);
  return (
    <div class="alert-histogram">
      <Chart
        label={`${counted(shown.total, 'alert')} over time, by severity${
          change === undefined ? '' : `, ${percent(change)} vs. previous period`
        }. Drag to select a time range.`}
        times={times}
        series={series}
        kind="bars"
        height={96}
        format={whole}
        onZoom={(start, stop) => setParams({ ...zoomed(start, stop, shown), range: undefined, id: undefined })}
      />
      {now.error !== null && (
        <p class="alert-histogram-change quiet" title={now.error.message}>
          Out of date; retrying
        </p>
      )}
      {now.error === null && change !== undefined && name !== 'all' && (
        <p class="alert-histogram-change quiet">
          {percent(change)} <span class="alert-histogram-words">vs. previous period</span>
        </p>
      )}
    </div>
  );
}
