import type { CallResult } from '../../../client/client.ts';
import { alertStatuses, type Severity as SeverityName, severities } from '../../../contract/vocabulary.ts';
import { href } from '../../state/address.ts';
import { number, percent, title } from '../../ui/format.ts';
import { Answered, type Asked } from '../../ui/states.tsx';
import { Severity } from '../../ui/values.tsx';

const worstFirst = [...severities].reverse();

/** Alerts last seen in the window, by severity and by status. */
export function AlertPanel({ dashboard }: { dashboard: Asked<CallResult<'getDashboard'>> }) {
  return (
    <section class="panel overview-alerts" aria-labelledby="overview-alerts">
      <h2 id="overview-alerts">Alerts in this range</h2>
      <Answered of={dashboard} rows={4}>
        {({ data: { attributes } }) => {
          const counts = attributes.alerts_by_severity as Readonly<Record<SeverityName, number>>;
          const statuses = attributes.alerts_by_status as Readonly<Record<string, number>>;
          const before = attributes.previous.totals.alerts;
          // The counts include every status, so the linked list must include them too.
          const window = { from: attributes.from, view: 'all' };
          const most = Math.max(1, ...Object.values(counts));
          return (
            <>
              <p class="overview-big">
                <a href={href('alerts', window)}>{number(attributes.totals.alerts)}</a>
                <span class="quiet overview-small">
                  {before === 0
                    ? 'new'
                    : `${percent(100 * (attributes.totals.alerts / before - 1))}, previously ${number(before)}`}
                </span>
              </p>
              <ul class="overview-bars">
                {worstFirst.map((severity) => (
                  <li key={severity}>
                    <a href={href('alerts', { ...window, severity })}>
                      <Severity level={severity} short />
                    </a>
                    <meter
                      class={`overview-meter severity-${severity}`}
                      min={0}
                      max={most}
                      value={counts[severity]}
                      aria-label={`${title(severity)} alerts`}
                    />
                    <span class="number">{number(counts[severity])}</span>
                  </li>
                ))}
              </ul>
              <p class="row overview-statuses">
                {alertStatuses.map((status) => (
                  <a key={status} href={href('alerts', { ...window, status })}>
                    {number(statuses[status] ?? 0)} {title(status).toLowerCase()}
                  </a>
                ))}
              </p>
            </>
          );
        }}
      </Answered>
    </section>
  );
}
