import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { href } from '../../../state/address.ts';
import { may, me } from '../../../state/session.ts';
import { Button } from '../../../ui/button.tsx';
import { Detail, Facts, Section } from '../../../ui/detail.tsx';
import { words } from '../../../ui/format.ts';
import { Time, Value } from '../../../ui/values.tsx';
import { IssueToken } from '../tokens/issue-dialog.tsx';
import { ChangePrincipal, ResetPassword, SwitchPrincipal } from './change-dialogs.tsx';

type Asked = 'change' | 'switch' | 'password' | 'token';

/** Detail of a principal, with links to its tokens and audit records. */
export function PrincipalDetail({ principal }: { principal: ListItem<'listPrincipals'> }) {
  const [asked, setAsked] = useState<Asked | undefined>();
  const { id, attributes } = principal;
  const { name, kind, roles, status, created_at, last_login_at } = attributes;
  const done = () => setAsked(undefined);
  const isMe = me.value?.id === id;
  return (
    <Detail
      title={
        <>
          <bdi>{name}</bdi>
          {isMe && <span class="quiet"> (you)</span>}
        </>
      }
      actions={
        may('updatePrincipal') && (
          <>
            <Button onClick={() => setAsked('change')}>Edit</Button>
            {kind === 'user' && <Button onClick={() => setAsked('password')}>Set password</Button>}
            {status === 'active' && <Button onClick={() => setAsked('token')}>Issue token</Button>}
            <Button kind={status === 'active' ? 'danger' : 'normal'} onClick={() => setAsked('switch')}>
              {status === 'active' ? 'Suspend' : 'Reactivate'}
            </Button>
          </>
        )
      }
    >
      <Facts
        facts={[
          ['Kind', words(kind)],
          ['Status', status],
          ['Roles', roles.join(', ') || 'none'],
          ['Created', <Time key="s" at={created_at} as="exact" />],
          ['Last login', last_login_at === undefined ? 'never' : <Time key="l" at={last_login_at} as="exact" />],
          ['ID', <Value key="i" value={id} />],
        ]}
      />
      <Section title="Related">
        <ul class="stack admin-links">
          <li>
            <a href={href('administration', { view: 'tokens', principal_id: id, status: 'active' })}>
              Sessions and tokens
            </a>
          </li>
          <li>
            <a href={href('administration', { view: 'audit', range: '7d', actor: id })}>Actions by this principal</a>,
            in the audit trail
          </li>
          <li>
            <a href={href('administration', { view: 'audit', range: '7d', resource_id: id })}>
              Changes to this principal
            </a>
            , in the audit trail
          </li>
        </ul>
      </Section>
      {asked === 'change' && <ChangePrincipal principal={principal} onClose={done} />}
      {asked === 'switch' && <SwitchPrincipal principal={principal} onClose={done} />}
      {asked === 'password' && <ResetPassword principal={principal} onClose={done} />}
      {asked === 'token' && <IssueToken principal={principal} onClose={done} />}
    </Detail>
  );
}
