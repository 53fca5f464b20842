import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { change, ifVersion } from '../../../state/answers.ts';
import { may } from '../../../state/session.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { numberColumn, timeColumn } from '../../../ui/attribute-columns.tsx';
import { Button } from '../../../ui/button.tsx';
import { closeDetail, Detail, Facts, Section } from '../../../ui/detail.tsx';
import { counted, number } from '../../../ui/format.ts';
import { Empty } from '../../../ui/states.tsx';
import { type Column, column } from '../../../ui/table.tsx';
import { Hash, Severity, Time } from '../../../ui/values.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { ListView } from '../parts/list-view.tsx';
import { Indicators } from './indicators.tsx';
import { ListForm } from './list-form.tsx';

type IntelRow = ListItem<'listIntel'>;

/** Threat intelligence: lists of known-bad addresses and domains. */
export default function Intel() {
  return (
    <ListView
      operation="listIntel"
      of="lists"
      sort="-changed_at"
      columns={columns}
      one={{ operation: 'getIntel', parameter: 'intel_id' }}
      detail={(list) => <ListDetail key={list.id} list={list} />}
      rowClass={({ attributes: { enabled } }) => (enabled ? '' : 'admin-off')}
      empty={
        <Empty title="No lists">
          Connections and DNS names are checked against lists of known-bad addresses and domains.
        </Empty>
      }
      actions={
        <DialogButton
          operation="createIntel"
          title="New list"
          dialog={(close) => <ListForm part="all" onClose={close} />}
        />
      }
    />
  );
}

function ListDetail({ list }: { list: IntelRow }) {
  const [asked, setAsked] = useState<'about' | 'content' | 'switch' | 'delete' | undefined>();
  const { attributes } = list;
  const { name, description, enabled, rejected, rejected_total } = attributes;
  const done = () => setAsked(undefined);
  return (
    <Detail
      title={<bdi>{name}</bdi>}
      actions={
        may('updateIntel') && (
          <>
            <Button onClick={() => setAsked('content')}>Replace content</Button>
            <Button onClick={() => setAsked('about')}>Edit</Button>
            <Button onClick={() => setAsked('switch')}>{enabled ? 'Disable' : 'Enable'}</Button>
            <Button kind="danger" onClick={() => setAsked('delete')}>
              Delete
            </Button>
          </>
        )
      }
    >
      {description !== undefined && (
        <p>
          <bdi>{description}</bdi>
        </p>
      )}
      <ListFacts of={attributes} />
      {rejected_total > 0 && (
        <Section title={`Rejected: ${number(rejected_total)}`}>
          <ul class="admin-problems">
            {rejected.map((one, index) => (
              <li key={index}>
                <span class="quiet">
                  {one.line !== undefined && `Line ${one.line}: `}
                  {one.object !== undefined && `Object ${one.object}: `}
                </span>
                <bdi class="mono">{one.value}</bdi> {one.reason}
              </li>
            ))}
          </ul>
          {rejected_total > rejected.length && <p class="quiet">Showing the first {number(rejected.length)}.</p>}
        </Section>
      )}
      <Section title="Indicators">
        <Indicators id={list.id} />
      </Section>
      {(asked === 'about' || asked === 'content') && <ListForm list={list} part={asked} onClose={done} />}
      {asked === 'switch' && (
        <ActionDialog
          title={enabled ? 'Disable this list?' : 'Enable this list?'}
          action={enabled ? 'Disable' : 'Enable'}
          logged={['detection.reloaded']}
          run={() =>
            change(
              'updateIntel',
              {
                params: { intel_id: list.id },
                headers: ifVersion(attributes.version),
                body: { enabled: !enabled },
              },
              ['listIntel', 'getIntel'],
            )
          }
          done={enabled ? 'List disabled.' : 'List enabled.'}
          onClose={done}
        >
          <p>
            {enabled
              ? 'New events will no longer be checked against this list. Existing alerts are kept.'
              : 'New events will be checked against this list.'}
          </p>
        </ActionDialog>
      )}
      {asked === 'delete' && (
        <ActionDialog
          title="Delete this list?"
          action="Delete"
          danger
          logged={['detection.reloaded']}
          run={async () => {
            await change('deleteIntel', { params: { intel_id: list.id }, headers: ifVersion(attributes.version) }, [
              'listIntel',
            ]);
            closeDetail();
          }}
          done="List deleted."
          onClose={done}
        >
          <p>
            Deletes <bdi>{name}</bdi> and its {counted(attributes.indicators, 'indicator')}. Existing alerts are kept.
          </p>
        </ActionDialog>
      )}
    </Detail>
  );
}

function ListFacts({ of: list }: { of: IntelRow['attributes'] }) {
  return (
    <Facts
      facts={[
        ['Severity', <Severity key="s" level={list.severity} />],
        ['State', list.enabled ? 'on' : 'off'],
        ['Indicators', `${number(list.indicators)}${list.expired > 0 ? `, ${number(list.expired)} expired` : ''}`],
        ['Hits', number(list.hits)],
        ['Last hit', list.last_hit_at && <Time key="h" at={list.last_hit_at} />],
        ['Confidence', list.confidence],
        ['Source', list.source && <bdi key="f">{list.source}</bdi>],
        ['Format', list.format === 'stix' ? 'STIX' : 'plain lines'],
        ['Expires', list.expires_at && <Time key="e" at={list.expires_at} as="exact" />],
        ['Indicator lifetime (days)', list.default_valid_days],
        ['Content updated', <Time key="c" at={list.content_changed_at} as="exact" />],
        ['SHA-256', <Hash key="x" value={list.content_sha256} what="SHA-256 of the content" />],
        ['Created', <Time key="m" at={list.created_at} />],
        ['Changed', <Time key="g" at={list.changed_at} />],
      ]}
    />
  );
}

const columns: readonly Column<IntelRow>[] = [
  column('severity', 'Severity', { width: '86px', sort: 'severity' }, ({ attributes: { severity } }) => (
    <Severity level={severity} short />
  )),
  column('name', 'Name', { width: 'minmax(110px, 1fr)', sort: 'name' }, ({ attributes: { name } }) => (
    <bdi title={name}>{name}</bdi>
  )),
  numberColumn('indicators', 'Indicators', 'indicators', { width: '84px' }),
  column('rejected', 'Rejected', { width: '80px', end: true, from: 640 }, ({ attributes: { rejected_total } }) =>
    number(rejected_total),
  ),
  numberColumn('hits', 'Hits', 'hits', { width: '64px', from: 480 }),
  timeColumn('changed', 'Changed', 'changed_at', { width: '84px', from: 560 }),
  column('state', 'State', { width: '44px' }, ({ attributes: { enabled } }) => (enabled ? 'on' : 'off')),
];
