import type { CallResult } from '../../../client/client.ts';
import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { may } from '../../state/session.ts';
import { Command } from '../../ui/command.tsx';
import { number } from '../../ui/format.ts';
import type { Asked } from '../../ui/states.tsx';

const refreshMs = 5000;

/** Where no event has ever come: how to send some. Where none is of the time that is shown: the way to the others. */
export function Begin({ dashboard }: { dashboard: Asked<CallResult<'getDashboard'>> }) {
  const totals = dashboard.data?.data.attributes.totals;
  const isQuiet = totals !== undefined && totals.network_events + totals.dns_events === 0;
  const status = useAnswer('getStatus', {}, { enabled: isQuiet, refreshMs });
  const store = status.data?.data.attributes.store;
  if (!isQuiet || store === undefined) return null;
  const stored = store.network_events + store.dns_events;
  if (stored > 0)
    return (
      <section class="panel overview-begin" aria-label="Events of other times">
        <p>
          No event is of this time; {number(stored)} of other times are stored:{' '}
          <a href={href('events', { range: 'all' })}>look at all of them</a>.
        </p>
      </section>
    );
  return (
    <section class="panel overview-begin" aria-labelledby="overview-begin">
      <h2 id="overview-begin">Nothing has come yet. This is how it begins:</h2>
      <ol>
        <li>
          {may('issueToken') ? (
            <>
              <a href={href('administration', { view: 'tokens' })}>Issue a token</a> of the scope{' '}
              <code>sensor</code>.
            </>
          ) : (
            <>
              Ask an administrator for a token of the scope <code>sensor</code>.
            </>
          )}
        </li>
        <li>
          Send it a log of Zeek or Suricata as it is:
          <Command
            text={`curl ${location.origin}/api/v1/ingest -H "authorization: Bearer $token" -H 'content-type: application/x-ndjson' --data-binary @conn.log`}
          />
        </li>
        <li>
          Shippers that speak to Elasticsearch, Splunk or an OpenTelemetry collector need this address and the
          token: <a href={href('docs', { page: 'shippers' })}>configure them</a>.
        </li>
      </ol>
    </section>
  );
}
