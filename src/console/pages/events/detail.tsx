import type { ComponentChildren } from 'preact';
import type { DnsAnswer } from '../../../contract/resources/dns-event.ts';
import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Detail, Facts, Raw, Section, SmallTable } from '../../ui/detail.tsx';
import { duration, exact } from '../../ui/format.ts';
import { Failure, Loading } from '../../ui/states.tsx';
import { Severity, Value } from '../../ui/values.tsx';
import { attributes, type Group, groups } from './attributes.ts';
import { EventProof } from './proof.tsx';
import { AssetLink, ConnectionEvents, RelatedAlerts } from './related.tsx';
import { type EventAttributes, type EventRow, type TableName, tables } from './tables.ts';
import { Written } from './written.tsx';

/** One event: its attributes, related alerts and events, and its proof. */
export function EventDetail({
  table,
  id,
  row,
  onClose,
}: {
  table: TableName;
  id: string;
  /** The row of the event, if the list contains it. */
  row: EventRow | undefined;
  onClose: () => void;
}) {
  const answer = useAnswer(
    tables[table].get,
    { params: { event_id: id } },
    { enabled: row === undefined, keepPrevious: false },
  );
  const event = row ?? (answer.data?.data as EventRow | undefined);
  if (event === undefined)
    return (
      <Detail title="Event" onClose={onClose}>
        {answer.error === null ? <Loading /> : <Failure error={answer.error} onRetry={() => void answer.refetch()} />}
      </Detail>
    );
  const of = event.attributes;
  return (
    <Detail title={<Title table={table} of={of} />} onClose={onClose} actions={<Actions event={event} />}>
      <div key={id}>
        {groupsOf(table).map((group) => (
          <Part key={group} table={table} group={group} event={event} />
        ))}
        <RelatedAlerts eventId={id} />
        {of.connection_id !== undefined && <ConnectionEvents connectionId={String(of.connection_id)} except={id} />}
        <EventProof table={table} id={id} />
        <Raw of={event} />
      </div>
    </Detail>
  );
}

function Title({ table, of }: { table: TableName; of: EventAttributes }) {
  if (table === 'dns')
    return (
      <>
        <span class="quiet">{String(of.qtype ?? 'DNS')} </span>
        <bdi>{String(of.query ?? of.dst_ip)}</bdi>
      </>
    );
  return (
    <>
      <bdi class="mono">{of.src_ip}</bdi> → <bdi class="mono">{of.dst_ip}</bdi>
      {of.dst_port !== undefined && <span class="mono">:{String(of.dst_port)}</span>}{' '}
      <bdi class="quiet">{String(of.app_protocols ?? of.transport)}</bdi>
    </>
  );
}

function Actions({ event: { attributes: of } }: { event: EventRow }) {
  return (
    <>
      <Severity level={of.severity} />
      {of.connection_id !== undefined && (
        <a class="button" href={href('events', { range: 'all', connection_id: String(of.connection_id) })}>
          Filter by connection
        </a>
      )}
    </>
  );
}

const order: Readonly<Record<TableName, readonly Group[]>> = {
  network: ['time', 'ends', 'traffic', 'protocol', 'sensor', 'ids'],
  dns: ['dns', 'time', 'ends', 'protocol', 'sensor', 'ids'],
};
const groupsOf = (table: TableName): readonly Group[] => order[table];

/** Attributes displayed elsewhere: answers have their own table, and `app_protocols` includes `app_protocol`. */
const shownElsewhere: ReadonlySet<string> = new Set(['answers', 'app_protocol']);

function Part({ table, group, event }: { table: TableName; group: Group; event: EventRow }) {
  const of = event.attributes;
  const facts = Object.entries(attributes[table])
    .filter(([name, { group: own }]) => own === group && !shownElsewhere.has(name) && of[name] !== undefined)
    .map(([name, { title, as }]): readonly [string, ComponentChildren] => [
      title,
      as === 'asset' ? (
        <AssetLink id={String(of[name])} />
      ) : as === 'time' ? (
        <Moment table={table} name={name} of={of} />
      ) : (
        <Written table={table} name={name} of={of} />
      ),
    ]);
  if (group === 'ids') facts.push(['Event ID', <Value key="id" value={event.id} />]);
  if (facts.length === 0) return null;
  return (
    <Section title={groups[group]}>
      <Facts facts={facts} />
      {group === 'dns' && Array.isArray(of.answers) && <Answers answers={of.answers} />}
    </Section>
  );
}

/** A time, with its zone on hover; for the time of receipt, also with its offset from the time of the event. */
function Moment({ table, name, of }: { table: TableName; name: string; of: EventAttributes }) {
  const at = Date.parse(String(of[name]));
  const after = at - Date.parse(of.timestamp);
  return (
    <span title={exact(at)}>
      <Written table={table} name={name} of={of} />
      {name === 'received_at' && <span class="quiet"> {offsetText(after)}</span>}
    </span>
  );
}

const offsetText = (ms: number): string =>
  ms < 0 ? `${duration(-ms)} before the event (clock skew)` : `${duration(ms)} after the event`;

function Answers({ answers }: { answers: readonly DnsAnswer[] }) {
  if (answers.length === 0) return <p class="quiet">The answer section is empty.</p>;
  return (
    <SmallTable heads={[{ title: 'Answer' }, { title: 'Type' }, { title: 'TTL' }]}>
      {answers.map(({ type, ttl, data }, index) => (
        <tr key={index}>
          <td class="small-table-wide">
            <Value
              value={data}
              list="listDnsEvents"
              field="answer"
              pivot={type === 'A' || type === 'AAAA' ? 'address' : 'domain'}
            />
          </td>
          <td>
            <bdi>{type ?? ''}</bdi>
          </td>
          <td>{ttl === undefined ? '' : duration(ttl * 1000)}</td>
        </tr>
      ))}
    </SmallTable>
  );
}
