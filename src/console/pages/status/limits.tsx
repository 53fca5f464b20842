import type { ComponentChildren } from 'preact';
import type { Status } from '../../../contract/resources/status.ts';
import { number } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';

const kinds = {
  rejected: 'records rejected',
  refused: 'requests refused',
  credentials: 'credentials refused',
  ignored: 'records of a kind that is not stored',
} as const;

/** Records that sensors sent and that were not stored: the reasons, with samples. Kinds that are never stored come last. */
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
  const none = 'Everything that sensors sent was stored.';
  return <Counted title="Not stored" none={none} column="Sensor, reason and samples" rows={rows} />;
}

/** Limits that were reached since the start, and what each of them refused or cut short. */
export function Limits({ status }: { status: Status }) {
  const reached = [...status.limits_reached].sort((a, b) => b.times - a.times);
  const rows = reached.map(({ limit, times, meaning, detectors = [] }) => ({
    times,
    about: (
      <>
        <span class="mono">{limit}</span>
        <p class="quiet">{meaning}</p>
        {detectors.length > 0 && (
          <p class="quiet">
            Detectors: {detectors.map((one) => `${one.detector} (${number(one.times)})`).join(', ')}
          </p>
        )}
      </>
    ),
  }));
  const column = 'Limit, and what became of what went beyond it';
  return <Counted title="Limits reached" none="No limit was reached." column={column} rows={rows} />;
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
      <h2>{title} since the start</h2>
      {rows.length === 0 ? (
        <Empty title="None.">{none}</Empty>
      ) : (
        <table class="status-table">
          <thead>
            <tr>
              <th scope="col">{column}</th>
              <th scope="col" class="number">
                Times
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
