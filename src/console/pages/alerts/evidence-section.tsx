import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { href, type Params } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Button } from '../../ui/button.tsx';
import { Facts, Section } from '../../ui/detail.tsx';
import { abbreviated, bytes, number, words } from '../../ui/format.ts';
import { Address, Time, Value } from '../../ui/values.tsx';
import { type EvidenceFact, eventsOf, eventTable, evidenceFacts, type Part } from './evidence.ts';
import type { Alert } from './question.ts';

const shownFirst = 5;

/** The detector's evidence, sample events, and links to the related network events and DNS events. */
export function Evidence({ alert }: { alert: Alert }) {
  const [all, setAll] = useState(false);
  const ids = [...alert.event_ids].reverse();
  const shown = all ? ids : ids.slice(0, shownFirst);
  const table = eventTable(alert);
  const facts = evidenceFacts(alert);
  return (
    <Section title="Evidence">
      {facts.length > 0 && <Facts facts={facts.map((fact) => [fact.name, <Parts key={fact.name} fact={fact} />])} />}
      {ids.length === 0 ? (
        <p class="quiet">No sample events: the sensor record behind this alert is not stored.</p>
      ) : (
        <ul class="alert-events" aria-label="Sample events">
          {shown.map((id) => (
            <li key={id}>
              <Event id={id} first={table} />
            </li>
          ))}
        </ul>
      )}
      <div class="row">
        {ids.length > shown.length && (
          <Button onClick={() => setAll(true)}>Show {number(ids.length - shown.length)} more</Button>
        )}
        <a href={href('events', eventsOf(alert, table) as Params)}>
          Related {table === 'dns' ? 'DNS' : 'network'} events
        </a>
        <a href={href('events', eventsOf(alert, table === 'dns' ? 'network' : 'dns') as Params)}>
          Related {table === 'dns' ? 'network' : 'DNS'} events
        </a>
      </div>
    </Section>
  );
}

function Parts({ fact: { parts, more } }: { fact: EvidenceFact }) {
  return (
    <>
      {parts.map((part, index) => (
        <Fragment key={index}>
          {index > 0 && ', '}
          <Shown part={part} />
        </Fragment>
      ))}
      {more > 0 && ` and ${number(more)} more`}
    </>
  );
}

function Shown({ part }: { part: Part }) {
  switch (part.kind) {
    case 'time':
      return <Time at={part.at} as="exact" />;
    case 'address':
      return (
        <>
          <Address ip={part.ip} port={part.port} list="listAlerts" />
          {part.rest !== undefined && <span class="quiet"> ({part.rest})</span>}
        </>
      );
    case 'domain':
      return <Value value={part.name} list="listAlerts" field="domain" pivot="domain" />;
    case 'text':
      return <bdi>{part.text}</bdi>;
  }
}

/** An event of one of the two tables; the more likely table is tried first. */
function Event({ id, first }: { id: string; first: 'network' | 'dns' }) {
  const params = { params: { event_id: id } };
  const options = { still: true, keepPrevious: false };
  const inDns = (enabled: boolean) => ({ ...options, enabled });
  const isMissing = (answer: { error: { code: string } | null }) => answer.error?.code === 'NOT_FOUND';
  const [likely, setLikely] = useState(first);
  const network = useAnswer('getNetworkEvent', params, inDns(likely === 'network'));
  const dns = useAnswer('getDnsEvent', params, inDns(likely === 'dns'));
  if (likely === first && isMissing(first === 'network' ? network : dns))
    setLikely(first === 'network' ? 'dns' : 'network');
  const answer = likely === 'network' ? network : dns;
  if (answer.data === undefined)
    return (
      <span class="quiet">
        {answer.error === null
          ? '…'
          : isMissing(answer)
            ? `Event ${abbreviated(id)} is no longer stored.`
            : answer.error.message}
      </span>
    );
  const { attributes } = answer.data.data;
  const link = href('events', {
    ...(likely === 'dns' && { table: 'dns' }),
    from: attributes.timestamp,
    to: new Date(Date.parse(attributes.timestamp) + 1).toISOString(),
    id,
  });
  return (
    <>
      <a class="alert-event-time" href={link} title="Show the event">
        <Time at={attributes.timestamp} as="exact" />
      </a>
      <span>
        <Address ip={attributes.src_ip} port={attributes.src_port} /> →{' '}
        <Address ip={attributes.dst_ip} port={attributes.dst_port} />
      </span>
      <span class="quiet clip">
        <bdi>{'kind' in attributes ? dnsSummary(attributes) : networkSummary(attributes)}</bdi>
      </span>
    </>
  );
}

const dnsSummary = ({ query, qtype, rcode_name }: { query?: string; qtype?: string; rcode_name?: string }): string =>
  [query, qtype, rcode_name].filter((part) => part !== undefined).join(' ');

function networkSummary(event: {
  transport: string;
  app_protocols?: readonly string[];
  state?: string;
  src_bytes?: number;
  dst_bytes?: number;
}): string {
  const { transport, app_protocols, state, src_bytes, dst_bytes } = event;
  const isCounted = src_bytes !== undefined || dst_bytes !== undefined;
  const size = isCounted ? bytes((src_bytes ?? 0) + (dst_bytes ?? 0)) : undefined;
  return [transport, app_protocols?.join(' '), state && words(state), size]
    .filter((part) => part !== undefined)
    .join(' · ');
}
