import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { href } from '../../../state/address.ts';
import { change, ifVersion, useAnswer } from '../../../state/answers.ts';
import { may } from '../../../state/session.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { timeColumn } from '../../../ui/attribute-columns.tsx';
import { Button } from '../../../ui/button.tsx';
import { closeDetail, Detail, Facts, Section } from '../../../ui/detail.tsx';
import { counted } from '../../../ui/format.ts';
import { Empty } from '../../../ui/states.tsx';
import { type Column, column } from '../../../ui/table.tsx';
import { Time, Value } from '../../../ui/values.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { ListView } from '../parts/list-view.tsx';
import { listedParts, matcherText, partNames } from './matcher.ts';
import { SilenceForm } from './silence-form.tsx';
import './silences.css';

type SilenceRow = ListItem<'listSilences'>;

/** Silences, which suppress alerts about known behaviour for a time. */
export default function Silences() {
  return (
    <ListView
      operation="listSilences"
      of="silences"
      sort="-created_at"
      columns={columns}
      one={{ operation: 'getSilence', parameter: 'silence_id' }}
      detail={(silence) => <SilenceDetail key={silence.id} silence={silence} />}
      rowClass={({ attributes: { state } }) => (state === 'expired' ? 'admin-off' : '')}
      empty={
        <Empty title="No silences">No alerts are suppressed. Create a silence here, or press s on an alert.</Empty>
      }
      actions={
        <DialogButton
          operation="createSilence"
          title="New silence"
          dialog={(close) => <SilenceForm onClose={close} />}
        />
      }
    />
  );
}

function SilenceDetail({ silence }: { silence: SilenceRow }) {
  const [asked, setAsked] = useState<'change' | 'delete' | undefined>();
  const { matcher, reason, owner, state, expires_at, created_at, updated_at, version } = silence.attributes;
  return (
    <Detail
      title={state === 'active' ? 'Silence' : 'Expired silence'}
      actions={
        <>
          {may('updateSilence') && (
            <Button onClick={() => setAsked('change')}>{state === 'active' ? 'Edit' : 'Renew'}</Button>
          )}
          {may('deleteSilence') && (
            <Button kind="danger" onClick={() => setAsked('delete')}>
              Delete
            </Button>
          )}
        </>
      }
    >
      <p class="silence-reason">
        <bdi>{reason}</bdi>
      </p>
      <Section title="Matches alerts that meet all conditions">
        <Facts
          facts={[
            ...partNames.map(
              (part) =>
                [
                  listedParts[part].title,
                  matcher[part] && (
                    <span key={part} class="row">
                      {matcher[part].map((value) => (
                        <Value key={value} value={value} {...pivotOf(part)} />
                      ))}
                    </span>
                  ),
                ] as const,
            ),
            ['Rule source', matcher.rule_source?.join(', ')],
            ['Maximum severity', matcher.max_severity],
          ]}
        />
      </Section>
      <Section title="Details">
        <Facts
          facts={[
            ['State', state],
            ['Owner', <bdi key="o">{owner}</bdi>],
            [state === 'active' ? 'Expires' : 'Expired', <Time key="e" at={expires_at} as="exact" />],
            ['Created', <Time key="c" at={created_at} as="exact" />],
            ['Changed', updated_at === created_at ? undefined : <Time key="u" at={updated_at} as="exact" />],
          ]}
        />
        <Suppressed id={silence.id} />
      </Section>
      {asked === 'change' && <SilenceForm silence={silence} onClose={() => setAsked(undefined)} />}
      {asked === 'delete' && (
        <ActionDialog
          title="Delete this silence?"
          action="Delete"
          danger
          run={async () => {
            await change('deleteSilence', { params: { silence_id: silence.id }, headers: ifVersion(version) }, [
              'listSilences',
            ]);
            closeDetail();
          }}
          done="Silence deleted."
          onClose={() => setAsked(undefined)}
        >
          <p>Matching alerts will no longer be suppressed. Only the audit trail will keep a record of the silence.</p>
        </ActionDialog>
      )}
    </Detail>
  );
}

const pivotOf = (part: (typeof partNames)[number]) =>
  part === 'domain'
    ? { pivot: 'domain' as const }
    : part === 'rule_id'
      ? { pivot: 'rule' as const }
      : ['src_ip', 'dst_ip', 'ip'].includes(part)
        ? { pivot: 'address' as const }
        : {};

/** Number of alerts that the silence currently suppresses. */
function Suppressed({ id }: { id: string }) {
  const answer = useAnswer('listAlerts', { query: { silence_id: id, per_page: 1 } });
  const total = answer.data?.pagination.total;
  if (total === undefined) return <p class="quiet">{answer.error?.message ?? '…'}</p>;
  return (
    <p>
      {total === 0 ? (
        'No alerts suppressed'
      ) : (
        <a href={href('alerts', { view: 'all', range: 'all', silence_id: id })}>{counted(total, 'suppressed alert')}</a>
      )}
    </p>
  );
}

const columns: readonly Column<SilenceRow>[] = [
  column('matcher', 'Matches', { width: 'minmax(130px, 2fr)' }, ({ attributes: { matcher } }) => (
    <bdi title={matcherText(matcher)}>{matcherText(matcher)}</bdi>
  )),
  column('reason', 'Reason', { width: 'minmax(100px, 1fr)', from: 620 }, ({ attributes: { reason } }) => (
    <bdi title={reason}>{reason}</bdi>
  )),
  column('owner', 'Owner', { width: 'minmax(70px, 120px)', from: 520, sort: 'owner' }, ({ attributes: { owner } }) => (
    <bdi>{owner}</bdi>
  )),
  timeColumn('created', 'Created', 'created_at', { width: '84px', from: 760 }),
  timeColumn('ends', 'Expires', 'expires_at', { width: '84px' }),
  column('state', 'State', { width: '64px' }, ({ attributes: { state } }) =>
    state === 'active' ? 'active' : 'expired',
  ),
];
