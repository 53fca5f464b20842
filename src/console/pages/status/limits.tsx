import type { ComponentChildren } from 'preact';
import type { Status } from '../../../contract/resources/status.ts';
import { number } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';

const kinds = {
  rejected: 'records rejected',
  refused: 'requests rejected',
  credentials: 'credentials rejected',
  ignored: 'records of unsupported types',
} as const;

/** Records from sensors that were not stored, by reason, with samples. Unsupported types come last. */
export function NotStored({ status: { not_stored } }: { status: Status }) {
  const order = Object.keys(kinds);
  const reasons = not_stored.reasons.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const rows = reasons.map(({ kind, sensor, reason, times, last_at, samples }) => ({
    times,
    about: (
      <>
        <bdi>{sensor ?? 'Unknown sensor'}</bdi>: {kinds[kind]}, last <Time at={last_at} />
        {[reason, ...samples].map((text) => (
          <p key={text} class="quiet status-sample">
            <bdi>{text}</bdi>
          </p>
        ))}
      </>
    ),
  }));
  const none = 'All records from sensors were stored.';
  return <Counted title="Not stored" none={none} column="Sensor, reason and samples" rows={rows} />;
}

/** Limits reached since the start, with the effect of each. */
export function Limits({ status }: { status: Status }) {
  const reached = [...status.limits_reached].sort((a, b) => b.times - a.times);
  const rows = reached.map(({ limit, times, meaning, detectors = [] }) => ({
    times,
    about: (
      <>
        <span class="mono">{limit}</span>
        <p class="quiet">{meaning}</p>
        {detectors.length > 0 && (
          <p class="quiet">Detectors: {detectors.map((one) => `${one.detector} (${number(one.times)})`).join(', ')}</p>
        )}
      </>
    ),
  }));
  const column = 'Limit and effect';
  return <Counted title="Limits reached" none="No limits were reached." column={column} rows={rows} />;
}

function Counted({
  title,
  none,
  column,
  rows,
}: {
  title: string;
  none: string;
  column: string;
  rows: readonly { readonly about: ComponentChildren; readonly times: number }[];
}) {
  return (
    <section class="panel status-wide" aria-label={title}>
      <h2>{title} since start</h2>
      {rows.length === 0 ? (
        <Empty title="None">{none}</Empty>
      ) : (
        <table class="status-table">
          <thead>
            <tr>
              <th scope="col">{column}</th>
              <th scope="col" class="number">
                Count
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ about, times }, index) => (
              <tr key={index}>
                <th scope="row">{about}</th>
                <td class="number">{number(times)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
