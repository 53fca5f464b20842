import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { may } from '../../state/session.ts';
import { Section } from '../../ui/detail.tsx';
import { abbreviated, bytes, number } from '../../ui/format.ts';
import { Answered } from '../../ui/states.tsx';
import { Severity, Time } from '../../ui/values.tsx';
import type { EventAttributes, EventRow, TableName } from './tables.ts';

/** A link with the name of an asset, or its id if the name is unavailable. */
export function AssetLink({ id }: { id: string }) {
  const answer = useAnswer('getAsset', { params: { asset_id: id } }, { enabled: may('getAsset') });
  return (
    <a href={href('assets', { id })} title={id}>
      <bdi>{answer.data?.data.attributes.name ?? abbreviated(id)}</bdi>
    </a>
  );
}

const shownAlerts = 10;

/** Alerts with the event in their sample. */
export function RelatedAlerts({ eventId }: { eventId: string }) {
  const answer = useAnswer(
    'listAlerts',
    { query: { event_id: [eventId], per_page: shownAlerts } },
    { enabled: may('listAlerts') },
  );
  if (!may('listAlerts')) return null;
  return (
    <Section title="Related alerts">
      <Answered of={answer} rows={1}>
        {({ data, pagination }) =>
          data.length === 0 ? (
            <p class="quiet">None. Alerts reference a sample of their events only.</p>
          ) : (
            <>
              <ul class="events-related">
                {data.map(({ id, attributes }) => (
                  <li key={id}>
                    <Severity level={attributes.severity} short />
                    <a class="clip" href={href('alerts', { range: 'all', id })}>
                      <bdi>{attributes.title}</bdi>
                    </a>
                  </li>
                ))}
              </ul>
              {pagination.total > data.length && (
                <a href={href('alerts', { range: 'all', event_id: eventId })}>
                  Show all {number(pagination.total)} alerts
                </a>
              )}
            </>
          )
        }
      </Answered>
    </Section>
  );
}

const shownEvents = 20;

/** The other events of the connection, network and DNS. */
export function ConnectionEvents({ connectionId, except }: { connectionId: string; except: string }) {
  const query = { connection_id: [connectionId], per_page: shownEvents };
  const network = useAnswer('listNetworkEvents', { query });
  const dns = useAnswer('listDnsEvents', { query });
  return (
    <Section title="Same connection">
      <Answered of={network} rows={1}>
        {({ data, pagination: { total } }) => (
          <Answered of={dns} rows={1}>
            {({ data: dnsData, pagination: { total: dnsTotal } }) => (
              <Events
                rows={[
                  ...data.map((row) => ({ table: 'network' as const, row: row as unknown as EventRow })),
                  ...dnsData.map((row) => ({ table: 'dns' as const, row: row as unknown as EventRow })),
                ]
                  .filter(({ row }) => row.id !== except)
                  .sort((a, b) => a.row.attributes.timestamp.localeCompare(b.row.attributes.timestamp))}
                total={total + dnsTotal - 1}
                connectionId={connectionId}
              />
            )}
          </Answered>
        )}
      </Answered>
    </Section>
  );
}

function Events({
  rows,
  total,
  connectionId,
}: {
  rows: readonly { table: TableName; row: EventRow }[];
  total: number;
  connectionId: string;
}) {
  if (rows.length === 0) return <p class="quiet">No other events with this connection ID.</p>;
  const all = (table: TableName) => ({
    range: 'all',
    table: table === 'dns' ? 'dns' : undefined,
    connection_id: connectionId,
  });
  return (
    <>
      <ul class="events-related">
        {rows.map(({ table, row: { id, attributes: of } }) => (
          <li key={id}>
            <a href={href('events', { ...all(table), id })} class="clip">
              <Time at={of.timestamp} as="exact" /> <span class="quiet">{table === 'dns' ? 'DNS' : 'network'}</span>{' '}
              <bdi>{summary(table, of)}</bdi>
            </a>
          </li>
        ))}
      </ul>
      {total > rows.length && (
        <p class="quiet">
          {number(rows.length)} of {number(total)}: <a href={href('events', all('network'))}>all network events</a>,{' '}
          <a href={href('events', all('dns'))}>all DNS events</a>
        </p>
      )}
    </>
  );
}

/** Describes an event in one line. */
function summary(table: TableName, of: EventAttributes): string {
  const parts =
    table === 'dns'
      ? [of.kind, of.qtype, of.query, of.rcode_name]
      : [
          String(of.app_protocols ?? of.transport).replaceAll(',', ' '),
          of.state,
          typeof of.src_bytes === 'number' ? `${bytes(of.src_bytes)} sent` : undefined,
          typeof of.dst_bytes === 'number' ? `${bytes(of.dst_bytes)} received` : undefined,
        ];
  return parts.filter((part) => part !== undefined).join(' · ');
}
