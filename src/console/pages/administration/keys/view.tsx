import { useState } from 'preact/hooks';
import { rotatedPurposes } from '../../../../contract/vocabulary.ts';
import { href } from '../../../state/address.ts';
import { may } from '../../../state/session.ts';
import { timeColumn } from '../../../ui/attribute-columns.tsx';
import { Button } from '../../../ui/button.tsx';
import { Detail, Facts, Section } from '../../../ui/detail.tsx';
import { Empty } from '../../../ui/states.tsx';
import { type Column, column } from '../../../ui/table.tsx';
import { Hash, Time, Value } from '../../../ui/values.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { ListView } from '../parts/list-view.tsx';
import { type KeyRow, RetireKey, RevokeKey, RotateKey } from './dialogs.tsx';
import { purposes, rangeOf } from './purposes.ts';

/** The service's signing keys. */
export default function Keys() {
  return (
    <ListView
      operation="listKeys"
      of="keys"
      sort="-created_at"
      columns={columns}
      detail={(key) => <KeyDetail key={key.id} of={key} />}
      rowClass={({ attributes: { state } }) => (state === 'active' ? '' : 'admin-off')}
      empty={<Empty title="No keys" />}
      actions={<DialogButton operation="rotateKey" title="Rotate" dialog={(close) => <RotateKey onClose={close} />} />}
    />
  );
}

function KeyDetail({ of: key }: { of: KeyRow }) {
  const [asked, setAsked] = useState<'rotate' | 'retire' | 'revoke' | undefined>();
  const { kid, purpose, state, fingerprint, signer, created_at, activated_at, retired_at, revoked_at } = key.attributes;
  const done = () => setAsked(undefined);
  const rotated = rotatedPurposes.find((one) => one === purpose);
  return (
    <Detail
      title={`${purposes[purpose].title}, ${state}`}
      actions={
        <>
          {state === 'active' && rotated !== undefined && may('rotateKey') && (
            <Button onClick={() => setAsked('rotate')}>Rotate</Button>
          )}
          {state === 'pending' && may('retireKey') && <Button onClick={() => setAsked('retire')}>Retire key</Button>}
          {state !== 'revoked' && may('revokeKey') && (
            <Button kind="danger" onClick={() => setAsked('revoke')}>
              Revoke
            </Button>
          )}
        </>
      }
    >
      <p class="quiet">{purposes[purpose].signs}</p>
      <Section title="Key">
        <Facts
          facts={[
            ['Purpose', purpose],
            ['State', state],
            ['Range', state === 'pending' ? 'not yet active' : rangeOf(key.attributes)],
            ['Created', <Time key="m" at={created_at} as="exact" />],
            ['Activated', activated_at && <Time key="a" at={activated_at} as="exact" />],
            ['Retired', retired_at && <Time key="r" at={retired_at} as="exact" />],
            ['Revoked', revoked_at && <Time key="v" at={revoked_at} as="exact" />],
            ['Key ID (kid)', <Value key="k" value={kid} />],
            ['Private key', signer === 'file' ? 'In a key file' : 'In an ssh-agent'],
            ['Fingerprint', <Hash key="f" value={fingerprint} what="Fingerprint" whole />],
          ]}
        />
      </Section>
      <Section title="Public records">
        <ul class="stack admin-links">
          <li>
            <a href={href('transparency', { kind: ['key.rotated', 'key.retired', 'key.revoked'] })}>
              Log entries about keys
            </a>
          </li>
          <li>
            <a href={href('transparency', { part: 'keys', id: kid })}>Published key</a> and the key that this browser
            has pinned
          </li>
        </ul>
      </Section>
      {asked === 'rotate' && rotated !== undefined && <RotateKey purpose={rotated} onClose={done} />}
      {asked === 'retire' && <RetireKey of={key} onClose={done} />}
      {asked === 'revoke' && <RevokeKey of={key} onClose={done} />}
    </Detail>
  );
}

const marks = { pending: '○', active: '●', retired: '·', revoked: '✕' } as const;

const columns: readonly Column<KeyRow>[] = [
  column('purpose', 'Purpose', { width: 'minmax(100px, 150px)', sort: 'purpose' }, ({ attributes: { purpose } }) => (
    <span title={purpose}>{purposes[purpose].title}</span>
  )),
  column('state', 'State', { width: '84px', sort: 'state' }, ({ attributes: { state } }) => (
    <span class={state === 'revoked' ? 'admin-bad' : state === 'active' ? 'admin-good' : ''}>
      <span aria-hidden="true">{marks[state]}</span> {state}
    </span>
  )),
  column('fingerprint', 'Fingerprint', { width: 'minmax(110px, 1fr)' }, ({ attributes: { fingerprint } }) => (
    <Hash value={fingerprint} what="Fingerprint" length={8} />
  )),
  column('range', 'Range', { width: 'minmax(120px, 190px)', from: 760 }, ({ attributes }) => rangeOf(attributes) ?? ''),
  timeColumn('created', 'Created', 'created_at', { width: '84px', from: 640 }),
  timeColumn('activated', 'Activated', 'activated_at', { width: '84px', from: 860 }),
  column(
    'ended',
    'Ended',
    { width: '84px', end: true, from: 520, sort: 'retired_at' },
    ({ attributes: { retired_at, revoked_at } }) => {
      const at = revoked_at ?? retired_at;
      return at && <Time at={at} />;
    },
  ),
];
