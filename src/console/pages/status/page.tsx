import { useEffect, useState } from 'preact/hooks';
import type { Status } from '../../../contract/resources/status.ts';
import { useAnswer } from '../../state/answers.ts';
import { Chart } from '../../ui/chart.tsx';
import { Facts } from '../../ui/detail.tsx';
import { compact, counted, duration, number } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { Answered } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { Limits, NotStored } from './limits.tsx';
import { LogHealth } from './log-health.tsx';
import { Storage } from './storage.tsx';
import './status.css';

/** Metrics at one time; the page keeps the latest samples for its charts. */
interface Sample {
  /** Time of the sample, in epoch milliseconds. */
  readonly at: number;
  readonly eventsPerS: number;
  readonly requestsPerS: number;
  readonly pending: number;
}

/** Maximum samples: 15 minutes at one sample every two seconds. */
const maxSamples = 450;

/** Appends a sample if it is newer than the last sample. */
function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && next.at <= last.at) return samples;
  return [...samples, next].slice(-maxSamples);
}

const refreshMs = 2000;

/** The health of the service: verdict, rates, threads, rejected records, limits, storage and log. */
export default function Health() {
  const status = useAnswer('getStatus', {}, { refreshMs });
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    if (status.data === undefined) return;
    const { attributes } = status.data.data;
    const { rates, threads } = attributes;
    setSamples((before) =>
      withSample(before, {
        at: Date.parse(status.data.meta.timestamp),
        eventsPerS: rates.events_per_s,
        requestsPerS: rates.requests_per_s,
        pending: threads.reduce((sum, { pending }) => sum + pending, 0),
      }),
    );
  }, [status.data]);
  return (
    <Page title="Health" scrolls>
      <Answered of={status} rows={12}>
        {({ data: { attributes } }) => (
          <div class="status-page">
            <Verdict status={attributes} />
            <Rates samples={samples} />
            <Threads status={attributes} />
            <NotStored status={attributes} />
            <Limits status={attributes} />
            <Storage status={attributes} />
            <LogHealth status={attributes} />
          </div>
        )}
      </Answered>
    </Page>
  );
}

function Verdict({ status }: { status: Status }) {
  const { warnings, verdict } = status;
  return (
    <section class="panel status-verdict" aria-label="Summary">
      <p class={verdict.well ? 'status-well' : 'status-unwell'}>
        <span aria-hidden="true">{verdict.well ? '✓ ' : '▲ '}</span>
        {verdict.text}
      </p>
      {verdict.limits !== undefined && <p>{verdict.limits}</p>}
      {warnings.length > 0 && (
        <ul class="stack">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <Facts
        facts={[
          ['Version', <span key="v">{status.version}</span>],
          ['Uptime', duration(Math.floor(status.uptime_s) * 1000)],
          ['Started', <Time key="s" at={status.started_at} as="exact" />],
          [
            'Live clients',
            `${number(status.sockets.connections)} (${counted(status.sockets.subscriptions, 'subscription')})`,
          ],
          ['Scans', `${number(status.scans.running)} running, ${number(status.scans.queued)} queued`],
        ]}
      />
    </section>
  );
}

const chartHeight = 96;
const charts = [
  { title: 'Events per second', colour: '--series-1', of: ({ eventsPerS }: Sample) => eventsPerS },
  { title: 'Requests per second', colour: '--series-2', of: ({ requestsPerS }: Sample) => requestsPerS },
  {
    title: 'Pending calls and tasks',
    colour: '--series-3',
    of: ({ pending }: Sample) => pending,
  },
] as const;

function Rates({ samples }: { samples: readonly Sample[] }) {
  const times = samples.map(({ at }) => at / 1000);
  const latest = samples.at(-1);
  return (
    <>
      {charts.map(({ title, colour, of }) => (
        <section key={title} class="panel" aria-label={title}>
          <div class="row spread">
            <h2>{title}</h2>
            <span class="mono">{latest && compact(of(latest))}</span>
          </div>
          {samples.length < 2 ? (
            <p class="status-measuring quiet">Measuring…</p>
          ) : (
            <Chart
              label={`${title} since this page was opened`}
              times={times}
              series={[{ title, colour, values: samples.map(of) }]}
              height={chartHeight}
            />
          )}
        </section>
      ))}
    </>
  );
}

function Threads({ status }: { status: Status }) {
  return (
    <section class="panel status-wide" aria-label="Threads">
      <h2>Threads</h2>
      <table class="status-table">
        <thead>
          <tr>
            <th scope="col">Thread or pool</th>
            <th scope="col" class="number">
              Pending
            </th>
            <th scope="col" class="number">
              In-flight bytes
            </th>
            <th scope="col" class="number">
              Completed tasks
            </th>
            <th scope="col" class="number">
              Restarts
            </th>
          </tr>
        </thead>
        <tbody>
          {status.threads.map((thread) => (
            <tr key={thread.name}>
              <th scope="row">{thread.name}</th>
              <td class="number">{number(thread.pending)}</td>
              <td class="number">{thread.in_flight_bytes === undefined ? '' : number(thread.in_flight_bytes)}</td>
              <td class="number">{thread.completed === undefined ? '' : number(thread.completed)}</td>
              <td class={thread.restarts ? 'number status-unwell' : 'number'}>
                {thread.restarts === undefined ? '' : number(thread.restarts)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
