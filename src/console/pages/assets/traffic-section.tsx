import { useMemo } from 'preact/hooks';
import { go, href, setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Button } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { Section } from '../../ui/detail.tsx';
import { duration, number } from '../../ui/format.ts';
import { countBars, timesOf } from '../../ui/histogram-bars.ts';
import type { AssetRow } from './question.ts';
import { shownWindow, windowStart } from './window.tsx';

const maxBars = 48;

/** Network events over time: connections opened by the asset, and connections to it. */
export function Traffic({ asset: { id, attributes } }: { asset: AssetRow }) {
  const window = shownWindow();
  const from = windowStart(window);
  const ask = (side: 'src_asset_id' | 'dst_asset_id') =>
    useAnswer('getNetworkEventHistogram', { query: { [side]: [id], from, buckets: maxBars } as never });
  const [opened, answered] = [ask('src_asset_id'), ask('dst_asset_id')];
  const out = opened.data?.data.attributes;
  const into = answered.data?.data.attributes;
  const bars = useMemo(
    () =>
      out &&
      into && {
        times: timesOf(out),
        series: [countBars('Outbound', '--series-1', out), countBars('Inbound', '--series-2', into)],
      },
    [out, into],
  );
  const error = opened.error ?? answered.error;
  return (
    <Section title="Traffic">
      {out === undefined || into === undefined || bars === undefined ? (
        <p class="quiet" role="status">
          {error === null ? (
            'Loading…'
          ) : (
            <>
              Traffic unavailable: {error.message}{' '}
              <Button
                kind="plain"
                onClick={() => {
                  void opened.refetch();
                  void answered.refetch();
                }}
              >
                Retry
              </Button>
            </>
          )}
        </p>
      ) : out.total + into.total === 0 ? (
        <p class="quiet">
          No network events in this range.{' '}
          {attributes.last_seen !== undefined && window !== '30d' && (
            <Button kind="plain" onClick={() => setParams({ window: '30d' }, { replace: true })}>
              Show 30 days
            </Button>
          )}
        </p>
      ) : (
        <>
          <Chart
            label={`Network events over time in steps of ${duration(out.bucket_ms)}: ${number(out.total)} outbound, ${number(into.total)} inbound. Drag to show the events of a range.`}
            times={bars.times}
            series={bars.series}
            kind="bars"
            height={96}
            onZoom={(start, end) =>
              go(
                href('events', {
                  asset_id: id,
                  from: new Date(Math.floor(start / out.bucket_ms) * out.bucket_ms).toISOString(),
                  to: new Date(Math.ceil(end / out.bucket_ms) * out.bucket_ms).toISOString(),
                }),
              )
            }
          />
          <p class="row">
            <span class="quiet">
              {number(out.total)} outbound, {number(into.total)} inbound
            </span>
            <a href={href('events', { range: window === '24h' ? undefined : window, asset_id: id })}>Show events</a>
          </p>
        </>
      )}
    </Section>
  );
}
