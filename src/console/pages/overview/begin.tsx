import type { CallResult } from '../../../client/client.ts';
import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { may } from '../../state/session.ts';
import { Command } from '../../ui/command.tsx';
import { number } from '../../ui/format.ts';
import type { Asked } from '../../ui/states.tsx';

const refreshMs = 5000;

/** Shown if there are no events in the range: how to send the first events, or a link to events outside the range. */
export function Begin({ dashboard }: { dashboard: Asked<CallResult<'getDashboard'>> }) {
  const totals = dashboard.data?.data.attributes.totals;
  const isQuiet = totals !== undefined && totals.network_events + totals.dns_events === 0;
  const status = useAnswer('getStatus', {}, { enabled: isQuiet, refreshMs });
  const store = status.data?.data.attributes.store;
  if (!isQuiet || store === undefined) return null;
  const stored = store.network_events + store.dns_events;
  if (stored > 0)
    return (
      <section class="panel overview-begin" aria-label="Events outside this range">
        <p>
          No events in this range. {number(stored)} outside it. <a href={href('events', { range: 'all' })}>Show all</a>
        </p>
      </section>
    );
  return (
    <section class="panel overview-begin" aria-labelledby="overview-begin">
      <h2 id="overview-begin">No events yet. Get started:</h2>
      <ol>
        <li>
          {may('issueToken') ? (
            <>
              <a href={href('administration', { view: 'tokens' })}>Issue a token</a> with the scope <code>sensor</code>.
            </>
          ) : (
            <>
              Ask an administrator for a token with the scope <code>sensor</code>.
            </>
          )}
        </li>
        <li>
          Send a Zeek or Suricata log:
          <Command
            text={`curl ${location.origin}/api/v1/ingest -H "authorization: Bearer $token" -H 'content-type: application/x-ndjson' --data-binary @conn.log`}
          />
        </li>
        <li>
          Or point a shipper for Elasticsearch, Splunk HEC or OTLP at this service with the token:{' '}
          <a href={href('docs', { page: 'shippers' })}>configure shippers</a>.
        </li>
      </ol>
    </section>
  );
}
