import { useMemo } from 'preact/hooks';
import { openAlertStatuses } from '../../../contract/vocabulary.ts';
import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Chart } from '../../ui/chart.tsx';
import { Section } from '../../ui/detail.tsx';
import { counted, duration, number, words } from '../../ui/format.ts';
import { severityBars, timesOf } from '../../ui/histogram-bars.ts';
import { Answered } from '../../ui/states.tsx';
import { Severity, Time } from '../../ui/values.tsx';
import type { AssetRow } from './question.ts';
import { shownWindow, windowStart } from './window.tsx';
import './alerts-section.css';

const shownAlerts = 6;
const maxBars = 48;

/** Alerts on the asset: open alerts, most severe first, and a histogram of all alerts, including closed ones. */
export function AssetAlerts({ asset: { id, attributes } }: { asset: AssetRow }) {
  const window = shownWindow();
  const open = useAnswer(
    'listAlerts',
    { query: { asset_id: [id], status: openAlertStatuses, sort: '-severity', per_page: shownAlerts } },
    { keepPrevious: false },
  );
  const histogram = useAnswer('getAlertHistogram', {
    query: { asset_id: [id], from: windowStart(window), buckets: maxBars } as never,
  });
  const shown = histogram.data?.data.attributes;
  const bars = useMemo(() => shown && { times: timesOf(shown), series: severityBars(shown) }, [shown]);
  return (
    <Section title={`Alerts · ${number(attributes.open_alerts)} open`}>
      {shown !== undefined && bars !== undefined && shown.total > 0 ? (
        <Chart
          label={`${counted(shown.total, 'alert')} last seen in this range, by severity, in steps of ${duration(shown.bucket_ms)}`}
          times={bars.times}
          series={bars.series}
          kind="bars"
          height={80}
          format={number}
        />
      ) : (
        <p class="quiet">
          {histogram.error !== null
            ? `Histogram unavailable: ${histogram.error.message}`
            : shown === undefined
              ? '…'
              : 'No alerts in this range.'}
        </p>
      )}
      <Answered of={open} rows={3}>
        {({ data, pagination }) => (
          <>
            {data.length === 0 ? (
              <p class="quiet">No open alerts.</p>
            ) : (
              <ul class="asset-alerts">
                {data.map(({ id: alert, attributes: one }) => (
                  <li key={alert}>
                    <Severity level={one.severity} short />
                    <a class="clip" href={href('alerts', { range: 'all', view: 'all', asset_id: id, id: alert })}>
                      <bdi>{one.title}</bdi>
                    </a>
                    <span class="quiet">{words(one.status)}</span>
                    <span class="quiet number">
                      <Time at={one.last_seen} />
                    </span>
                  </li>
                ))}
              </ul>
            )}
            <p class="row">
              {pagination.total > data.length && (
                <a href={href('alerts', { range: 'all', asset_id: id })}>
                  Show all {number(pagination.total)} open alerts
                </a>
              )}
              <a href={href('alerts', { range: 'all', view: 'all', asset_id: id })}>
                Show all alerts, including closed ones
              </a>
            </p>
          </>
        )}
      </Answered>
    </Section>
  );
}
