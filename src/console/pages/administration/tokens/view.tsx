import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { href } from '../../../state/address.ts';
import { change, useAnswer } from '../../../state/answers.ts';
import { now } from '../../../state/clock.ts';
import { may, me } from '../../../state/session.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { timeColumn } from '../../../ui/attribute-columns.tsx';
import { Button } from '../../../ui/button.tsx';
import { Detail, Facts } from '../../../ui/detail.tsx';
import { abbreviated, words } from '../../../ui/format.ts';
import { Empty } from '../../../ui/states.tsx';
import { type Column, column } from '../../../ui/table.tsx';
import { Time, Value } from '../../../ui/values.tsx';
import { DialogButton } from '../parts/dialog-button.tsx';
import { ListView } from '../parts/list-view.tsx';
import { stateOfToken } from './expiry.ts';
import { IssueToken } from './issue-dialog.tsx';

/** Number of principals fetched in one request to look up names. */
const known = 1000;

/** Shows a principal's name if known, else its ID. */
function PrincipalName({ id }: { id: string }) {
  const all = useAnswer(
    'listPrincipals',
    { query: { per_page: known } },
    { enabled: may('listPrincipals') && id !== me.value?.id, still: true },
  );
  const name = id === me.value?.id ? me.value.name : all.data?.data.find((one) => one.id === id)?.attributes.name;
  return <span title={id}>{name === undefined ? <span class="mono">{abbreviated(id)}</span> : <bdi>{name}</bdi>}</span>;
}

type TokenRow = ListItem<'listTokens'>;

/** Sessions of users and tokens of machines. */
export default function Tokens() {
  return (
    <ListView
      operation="listTokens"
      of="tokens"
      sort="-issued_at"
      columns={columns}
      one={{ operation: 'getToken', parameter: 'token_id' }}
      detail={(token) => <TokenDetail key={token.id} token={token} />}
      rowClass={({ attributes }) => (stateOfToken(attributes, now.peek()) === 'active' ? '' : 'admin-off')}
      empty={<Empty title="No tokens" />}
      actions={
        <DialogButton operation="issueToken" title="Issue token" dialog={(close) => <IssueToken onClose={close} />} />
      }
    />
  );
}

const kinds = { session: 'session', long_lived: 'token' } as const;

function TokenDetail({ token: { id, attributes } }: { token: TokenRow }) {
  const [asked, setAsked] = useState(false);
  const { name, kind, principal_id, scopes, issued_at, expires_at, revoked_at, last_used_at } = attributes;
  const state = stateOfToken(attributes, now.value);
  const isSession = kind === 'session';
  return (
    <Detail
      title={name === undefined ? 'Session' : <bdi>{name}</bdi>}
      actions={
        state === 'active' &&
        may('revokeToken') && (
          <Button kind="danger" onClick={() => setAsked(true)}>
            {isSession ? 'End session' : 'Revoke'}
          </Button>
        )
      }
    >
      <Facts
        facts={[
          ['State', state],
          ['Kind', isSession ? 'session (sign-in to sign-out)' : 'long-lived, for a machine'],
          [
            'Owner',
            <a key="o" href={href('administration', { view: 'principals', id: principal_id })}>
              <PrincipalName id={principal_id} />
            </a>,
          ],
          ['Roles', scopes.join(', ')],
          ['Issued', <Time key="i" at={issued_at} as="exact" />],
          ['Expires', expires_at === undefined ? 'never' : <Time key="e" at={expires_at} as="exact" />],
          ['Revoked', revoked_at && <Time key="r" at={revoked_at} as="exact" />],
          ['Last used', last_used_at === undefined ? 'never' : <Time key="u" at={last_used_at} />],
          ['ID', <Value key="j" value={id} />],
        ]}
      />
      <p class="quiet">The secret is not stored and cannot be shown again.</p>
      {asked && (
        <ActionDialog
          title={isSession ? 'End this session?' : 'Revoke this token?'}
          action={isSession ? 'End session' : 'Revoke'}
          danger
          logged={['token.revoked']}
          run={() => change('revokeToken', { params: { token_id: id } }, ['listTokens', 'getToken'])}
          done={isSession ? 'Session ended.' : 'Token revoked.'}
          onClose={() => setAsked(false)}
        >
          <p>
            {isSession
              ? 'The user will have to sign in again.'
              : 'Clients that use this token will be rejected. This cannot be undone, but you can issue a new token.'}
          </p>
        </ActionDialog>
      )}
    </Detail>
  );
}

const columns: readonly Column<TokenRow>[] = [
  column('name', 'Name', { width: 'minmax(100px, 1fr)', sort: 'name' }, ({ attributes: { name } }) =>
    name === undefined ? <span class="quiet">session</span> : <bdi title={name}>{name}</bdi>,
  ),
  column('kind', 'Kind', { width: '72px', from: 420 }, ({ attributes: { kind } }) => kinds[kind]),
  column('principal', 'Owner', { width: 'minmax(80px, 1fr)' }, ({ attributes: { principal_id } }) => (
    <PrincipalName id={principal_id} />
  )),
  column('scopes', 'Roles', { width: 'minmax(70px, 1fr)', from: 560 }, ({ attributes: { scopes } }) =>
    scopes.map(words).join(', '),
  ),
  timeColumn('issued', 'Issued', 'issued_at', { width: '90px', from: 760 }),
  timeColumn('used', 'Last used', 'last_used_at', { width: '90px', from: 860, absent: 'never' }),
  timeColumn('expires', 'Expires', 'expires_at', { width: '76px', from: 680, absent: 'never' }),
  column('state', 'State', { width: '66px' }, ({ attributes }) => stateOfToken(attributes, now.value)),
];
