import type { Status } from '../../../contract/resources/status.ts';
import { Facts, Section } from '../../ui/detail.tsx';
import { bytes, counted, duration, number } from '../../ui/format.ts';
import { Time } from '../../ui/values.tsx';
import { Findings, isAboutStorage } from './log-health.tsx';

/** The numbers of stored items, the size of the store, and retention. */
export function Storage({ status: { store, retention, ledger } }: { status: Status }) {
  const perEvent = retention.event_bytes / Math.max(1, store.network_events + store.dns_events);
  return (
    <section class="panel" aria-label="Storage">
      <h2>Storage</h2>
      <Findings findings={ledger.findings.filter(isAboutStorage)} />
      <Facts
        facts={[
          ['Network events', number(store.network_events)],
          ['DNS events', number(store.dns_events)],
          ['Alerts', number(store.alerts)],
          ['Assets', number(store.assets)],
          ['Services', number(store.services)],
          ['Edges', number(store.topology_edges)],
          ['Blocks', number(store.blocks)],
          ['Damaged events', store.damaged_events === 0 ? undefined : number(store.damaged_events)],
          ['Skipped events', store.skipped_events === 0 ? undefined : number(store.skipped_events)],
          ['Unprocessed events', store.uncounted_events === 0 ? undefined : number(store.uncounted_events)],
          ['Database', `${bytes(store.bytes)}, ${bytes(store.unused_bytes)} free`],
          ['Events', `${bytes(retention.event_bytes)}, ${bytes(perEvent)} per event`],
        ]}
      />
      <Section title="Retention">
        {retention.max_bytes !== undefined && (
          <>
            <meter
              class="status-meter"
              min={0}
              max={retention.max_bytes}
              value={retention.event_bytes}
              aria-label="Event storage used"
            />
            <p class="quiet">
              {bytes(retention.event_bytes)} of {bytes(retention.max_bytes)}; the oldest events are deleted first
            </p>
          </>
        )}
        <Facts
          facts={[
            ['Maximum age', retention.max_age_ms === undefined ? 'unlimited' : duration(retention.max_age_ms)],
            ['Oldest network event', retention.oldest_network_event && <Time at={retention.oldest_network_event} />],
            ['Oldest DNS event', retention.oldest_dns_event && <Time at={retention.oldest_dns_event} />],
            ['Retention clock lag', retention.clock_behind_ms === 0 ? undefined : duration(retention.clock_behind_ms)],
          ]}
        />
        {retention.expired.length > 0 && (
          <ul>
            {retention.expired.map(({ table, reason, events, bytes: size }) => (
              <li key={`${table} ${reason}`}>
                {counted(events, `${table === 'dns' ? 'DNS' : table} event`)} deleted by {reason} limit ({bytes(size)})
              </li>
            ))}
          </ul>
        )}
      </Section>
    </section>
  );
}
