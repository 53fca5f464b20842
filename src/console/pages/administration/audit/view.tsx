import { useEffect } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { href, place } from '../../../state/address.ts';
import { filterQuery } from '../../../state/filters.ts';
import { rangeQuery } from '../../../state/range.ts';
import { useSaving } from '../../../state/saving.ts';
import { api } from '../../../state/session.ts';
import { Button } from '../../../ui/button.tsx';
import { Detail, Facts, Section } from '../../../ui/detail.tsx';
import { counted, number } from '../../../ui/format.ts';
import { SaveProgress } from '../../../ui/save-progress.tsx';
import { Empty } from '../../../ui/states.tsx';
import { type Column, column } from '../../../ui/table.tsx';
import { say, sayFailure } from '../../../ui/toasts.tsx';
import { Time, Value } from '../../../ui/values.tsx';
import { ListView } from '../parts/list-view.tsx';

type AuditRow = ListItem<'listAuditRecords'>;
const list = 'listAuditRecords';

export default function Audit() {
  return (
    <ListView
      operation={list}
      of="records"
      sort="-time"
      ranged
      columns={columns}
      detail={(record) => <RecordDetail key={record.id} record={record} />}
      empty={
        <Empty title="No audit records in this range">
          Administration, use of credentials and changes are recorded, but not every read of events and alerts.
        </Empty>
      }
      actions={<Export />}
    />
  );
}

/** Button that exports all records that match the filters and the time range to a file. */
function Export() {
  const { progress, error, start, cancel } = useSaving();
  useEffect(() => {
    if (error !== undefined) sayFailure('Export failed', error);
  }, [error]);
  const begin = async () => {
    const sort = place.peek().params.get('sort') ?? '-time';
    const query = { ...filterQuery(list), ...rangeQuery(), sort } as never;
    const name = `audit-${new Date().toISOString().slice(0, 10)}.ndjson`;
    const saved = await start(name, (signal) => api.whole(list, 'lines', { query, signal }));
    if (saved !== undefined) say(`${counted(saved.lines, 'record')} exported.`);
  };
  return progress === undefined ? (
    <Button onClick={() => void begin()}>Export NDJSON</Button>
  ) : (
    <SaveProgress progress={progress} onCancel={cancel} />
  );
}

function RecordDetail({ record: { attributes } }: { record: AuditRow }) {
  const { actor, actor_name, operation, resource, request_id, source_address, outcome, code, count } = attributes;
  const { entry_ids, reason, sample, time } = attributes;
  return (
    <Detail title={<Operation name={operation} />}>
      {count !== undefined && (
        <p class="notice">
          This record combines {counted(count, reason === undefined ? 'call' : 'record')} from{' '}
          {operation === 'several' ? 'several callers' : 'one caller'} within{' '}
          {outcome === 'success' && reason !== undefined ? 'an hour' : 'a minute'}. The details describe only the first
          of them.
        </p>
      )}
      <Facts
        facts={[
          ['Outcome', <Outcome key="o" outcome={outcome} code={code} />],
          ['Reason', reason && <bdi key="w">{reason}</bdi>],
          ['Sample', sample && <bdi key="s">{sample}</bdi>],
          ['Time', <Time key="t" at={time} as="exact" />],
          [
            'Actor',
            actor_name === undefined ? undefined : (
              <Value key="n" value={actor_name} list={list} field="actor_name" mono={false} />
            ),
          ],
          ['Actor ID', <Value key="a" value={actor} list={list} field="actor" />],
          [
            'Source address',
            <Value key="s" value={source_address} list={list} field="source_address" pivot="address" />,
          ],
          [
            'Resource type',
            resource && <Value key="r" value={resource.type} list={list} field="resource_type" mono={false} />,
          ],
          ['Resource ID', resource && <Value key="i" value={resource.id} list={list} field="resource_id" />],
          ['Request ID', <Value key="q" value={request_id} list={list} field="request_id" />],
        ]}
      />
      <Section title="In the public log">
        {entry_ids === undefined || entry_ids.length === 0 ? (
          <p class="quiet">No log entries.</p>
        ) : (
          <ul class="stack admin-links">
            {entry_ids.map((id) => (
              <li key={id} class="row">
                <code>{id}</code>
                <a href={href('transparency', { view: 'proof', id })}>Proof</a>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </Detail>
  );
}

const Operation = ({ name }: { name: string }) => <bdi class="mono">{name}</bdi>;

const marks = { success: '✓', refused: '✕', failed: '!' } as const;

function Outcome({ outcome, code }: { outcome: AuditRow['attributes']['outcome']; code?: string | undefined }) {
  return (
    <span class={outcome === 'success' ? '' : 'admin-bad'}>
      <span aria-hidden="true">{marks[outcome]}</span> {outcome}
      {code !== undefined && <span class="quiet mono"> {code}</span>}
    </span>
  );
}

const columns: readonly Column<AuditRow>[] = [
  column('time', 'Time', { width: '84px', sort: 'time' }, ({ attributes: { time } }) => <Time at={time} />),
  column('actor', 'Actor', { width: 'minmax(80px, 150px)' }, ({ attributes: { actor, actor_name } }) => (
    <Value value={actor_name ?? actor} list={list} field={actor_name ? 'actor_name' : 'actor'} mono={false} />
  )),
  column('operation', 'Operation', { width: 'minmax(110px, 1fr)' }, ({ attributes: { operation, count } }) => (
    <>
      <Value value={operation} list={list} field="operation" />
      {count !== undefined && <span class="quiet"> × {number(count)}</span>}
    </>
  )),
  column(
    'resource',
    'Resource',
    { width: 'minmax(100px, 1fr)', from: 820 },
    ({ attributes: { resource } }) =>
      resource && (
        <bdi class="quiet" title={`${resource.type} ${resource.id}`}>
          {resource.type} <span class="mono">{resource.id}</span>
        </bdi>
      ),
  ),
  column('source', 'Source', { width: 'minmax(90px, 130px)', from: 680 }, ({ attributes: { source_address } }) => (
    <bdi class="mono">{source_address}</bdi>
  )),
  column('outcome', 'Outcome', { width: 'minmax(84px, 160px)', from: 380 }, ({ attributes: { outcome, code } }) => (
    <Outcome outcome={outcome} code={code} />
  )),
  column(
    'log',
    'Log',
    { width: '36px', end: true, from: 560 },
    ({ attributes: { entry_ids } }) =>
      entry_ids?.[0] !== undefined && (
        <a href={href('transparency', { view: 'proof', id: entry_ids[0] })} aria-label="Proof of the log entry">
          ◈
        </a>
      ),
  ),
];
